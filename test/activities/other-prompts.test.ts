/**
 * The end of a prompt on services that show it otherwise: each variation of the record and of the history, with and
 * without an id, alone and after another prompt. Gate; costs some 10 CPU seconds.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PromptEnd } from '../../activities/prompt/end.js';
import type { FollowPromptInput } from '../../activities/prompt/follow-prompt.js';
import { aSandbox, errorBody, type SeenRequest, sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

type Row = Readonly<Record<string, unknown>>;
type Reply = (response: ServerResponse, query: URLSearchParams) => void;

/** A service that answers in its own way. Both reads are as sandflow assumes unless it says otherwise. */
interface Variation {
  readonly record?: Reply;
  /** The rows of the history, from those that sandflow assumes. Default: these. */
  readonly rows?: (rows: readonly Row[]) => readonly Row[];
  /** The answer with these rows. Default: `{ events: rows }`. */
  readonly history?: (rows: readonly Row[]) => Reply;
  readonly ends: Partial<PromptEnd>;
}

const json =
  (body: object, status = 200): Reply =>
  (response) =>
    sendJson(response, status, { ok: true, type: 'x', ...body });
const refusing =
  (status: number, code: string): Reply =>
  (response) =>
    sendJson(response, status, errorBody(status, code));
const html =
  (status: number): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Not here</h1>');

const atMs = (second: number) => 1_750_000_000_000 + second * 1_000;
/** The events of a prompt, the first of which is the event number `first`. */
function turn(first: number, prompt: string, answer: string): Row[] {
  const row = (at: number, type: string, data: object) => ({
    ...{ id: `sev_${first + at}`, type, conversationId: 'conv_1' },
    ...{ createdAt: new Date(atMs(first + at)).toISOString(), data },
  });
  return [
    row(0, 'prompt.queued', { prompt }),
    row(1, 'prompt.started', {}),
    row(2, 'agent.message', { text: answer }),
    row(3, 'prompt.completed', {}),
  ];
}
const record = (over: object) =>
  json({ prompt: { id: 'prm_1', status: 'completed', result: 'done', endedAt: null, ...over } });
const unreadable = json({ items: [] });
const completed = { status: 'completed', result: 'done' };
const answered = { ...completed, note: undefined };
const without = (name: string) => (rows: readonly Row[]) => rows.map(({ [name]: _, ...row }) => row);
const withField = (name: string, value: (row: Row, at: number) => unknown) => (rows: readonly Row[]) =>
  rows.map((row, at) => ({ ...row, [name]: value(row, at) }));
const renamed = (from: string, to: string) => (rows: readonly Row[]) =>
  rows.map(({ [from]: value, ...row }) => ({ ...row, [to]: value }));
const reversed = (rows: readonly Row[]) => rows.toReversed();
const secondsOf = ({ createdAt }: Row) => Date.parse(String(createdAt)) / 1_000;
/** Pages of two rows; `more` tells of the next one. */
const inPages =
  (param: string, more: (last: Row, end: number) => object) =>
  (rows: readonly Row[]): Reply =>
  (response, query) => {
    const from = query.get(param);
    const first = from === null ? 0 : param === 'after' ? rows.findIndex(({ id }) => id === from) + 1 : Number(from);
    const page = rows.slice(first, first + 2);
    const end = first + page.length;
    json({ events: page, ...(end < rows.length && more(page.at(-1) ?? {}, end)) })(response, query);
  };
const lacks = (part: string) => ({ status: 'completed', result: null, note: expect.stringContaining(part) });

const recordsAlone: Readonly<Record<string, Reply>> = {
  'is refused with 404': refusing(404, 'not_found'),
  'is refused with 405': refusing(405, 'method_not_allowed'),
  'is refused with 403': refusing(403, 'forbidden'),
  'is refused with 410': refusing(410, 'gone'),
  'is a page with 404': html(404),
  'is a page with 405': html(405),
  'is a page with 501': html(501),
  'is a page with 200': html(200),
  'is under another key': json({ run: { id: 'prm_1', status: 'completed', result: 'other' } }),
  'has no key': json({ id: 'prm_1', status: 'completed', result: 'other' }),
  'is a list': json({ prompt: [{ id: 'prm_1', status: 'completed' }] }),
  'has no status': json({ prompt: { id: 'prm_1', state: 'completed', result: 'other' } }),
  'has no id': json({ prompt: { status: 'completed', result: 'other' } }),
  'is that of another prompt': json({ prompt: { id: 'prm_2', status: 'completed', result: 'other' } }),
};
const named = (status: string, over: object = {}) => record({ status, ...over });
const words: Readonly<Record<string, Variation>> = {
  ...Object.fromEntries(
    ['succeeded', 'success', 'done', 'FINISHED', 'pending', 'in_progress', 'queued', 'running'].map((word) => [
      `says ${word}`,
      { record: named(word), ends: { ...completed, note: expect.stringContaining(`"${word}"`) } },
    ]),
  ),
  ...Object.fromEntries(
    ['error', 'cancelled', 'timed_out', 'Aborted'].map((word) => [
      `says ${word}`,
      { record: named(word, { result: null }), ends: { status: 'failed', error: expect.stringContaining(word) } },
    ]),
  ),
  'says ended and why it failed': {
    record: named('ended', { result: null, error: 'no quota' }),
    ends: { status: 'failed', error: 'no quota' },
  },
  'has numbers for ids and times': {
    record: record({ id: 1, conversationId: 5, endedAt: atMs(7), startedAt: atMs(6) / 1_000 }),
    ends: { ...answered, endedAt: new Date(atMs(7)).toISOString(), startedAt: new Date(atMs(6)).toISOString() },
  },
};

const histories: Readonly<Record<string, Omit<Variation, 'record'>>> = {
  'is as assumed': { ends: answered },
  'has the newest event first': { rows: reversed, ends: answered },
  'has the newest event first, all at one time': {
    rows: (rows) => reversed(withField('createdAt', () => new Date(atMs(1)).toISOString())(rows)),
    ends: answered,
  },
  'has the newest event first and no times': { rows: (rows) => reversed(without('createdAt')(rows)), ends: answered },
  'has the newest event first, in pages': {
    rows: reversed,
    history: inPages('cursor', (_, end) => ({ nextCursor: String(end) })),
    ends: answered,
  },
  'has numbers for ids': { rows: withField('id', (_, at) => 41 + at), ends: answered },
  'has texts of another form for ids': { rows: withField('id', (_, at) => `e-${9 - at}-x`), ends: answered },
  'has numbers for conversations': { rows: withField('conversationId', () => 8), ends: answered },
  'has no conversations': { rows: without('conversationId'), ends: answered },
  'has seconds for times': { rows: withField('createdAt', secondsOf), ends: answered },
  'has milliseconds for times': { rows: withField('createdAt', (row) => secondsOf(row) * 1_000), ends: answered },
  'has times that are no dates': { rows: withField('createdAt', () => 'a while ago'), ends: answered },
  'has its times under another name': { rows: renamed('createdAt', 'timestamp'), ends: answered },
  'has no times': { rows: without('createdAt'), ends: answered },
  'is paged by nextCursor': { history: inPages('cursor', (_, end) => ({ nextCursor: String(end) })), ends: answered },
  'is paged by next': { history: inPages('cursor', (_, end) => ({ next: String(end) })), ends: answered },
  'is paged by cursor': { history: inPages('cursor', (_, end) => ({ cursor: String(end) })), ends: answered },
  'says hasMore': { history: inPages('after', () => ({ hasMore: true })), ends: answered },
  'says has_more': { history: inPages('after', () => ({ has_more: true })), ends: answered },
  'is paged by numbers of pages': {
    history: (rows) => json({ events: rows.slice(0, 1), page: 1, pages: 9, total: rows.length }),
    ends: { status: 'completed', note: expect.stringContaining('further pages of the history') },
  },
  'has an unreadable row': {
    rows: (rows) => [...rows.slice(0, -1), { id: {}, type: 7 }, ...rows.slice(-1)],
    ends: { ...completed, note: 'This could not be read: 1 row of the history of the sandbox.' },
  },
  'has other names for its fields': {
    rows: (rows) => renamed('id', 'eventId')(renamed('type', 'kind')(rows)),
    ends: lacks('rows of the history'),
  },
  'has other words for its types': { rows: withField('type', ({ type }) => `x.${type}`), ends: lacks('the types of') },
  'has the texts of prompts under another name': {
    rows: (rows) => rows.map((row) => ({ ...row, data: { text: (row.data as Row).text ?? (row.data as Row).prompt } })),
    ends: { status: 'completed' },
  },
  'has nothing in its events': { rows: without('data'), ends: { status: 'completed', result: null } },
  'has another word for its end': {
    rows: withField('type', ({ type }) => String(type).replace('completed', 'done')),
    ends: { status: 'completed', note: expect.stringContaining('"running"') },
  },
  'is under another key': { history: (rows) => json({ items: rows }), ends: lacks('listEvents') },
  'is refused with 404': { history: () => refusing(404, 'not_found'), ends: lacks('refused') },
  'is refused with 405': { history: () => refusing(405, 'method_not_allowed'), ends: lacks('refused') },
  'is a page with 404': { history: () => html(404), ends: lacks('404') },
  'is a page with 200': { history: () => html(200), ends: lacks('listEvents') },
  'does not have the prompt': {
    rows: () => [],
    ends: { status: 'not_found', note: 'The service accepted the prompt, but does not show it' },
  },
};

interface Case extends Variation {
  readonly title: string;
  readonly promptId: string | null;
  readonly before: readonly Row[];
}

const before = turn(1, 'Before.', 'old');
const cases: Case[] = [
  ...Object.entries(recordsAlone).flatMap(([title, reply]): Case[] => [
    { title: `a record that ${title}`, promptId: 'prm_1', before: [], record: reply, ends: answered },
    {
      ...{ title: `a record that ${title}, with a history that cannot be read`, promptId: 'prm_1', before: [] },
      ...{ record: reply, history: () => unreadable, ends: lacks('listEvents') },
    },
  ]),
  ...Object.entries(words).map(
    ([title, one]): Case => ({
      ...{ title: `a record that ${title}`, promptId: title.includes('numbers') ? '1' : 'prm_1', before: [] },
      ...one,
      history: () => unreadable,
    }),
  ),
  ...Object.entries(histories).flatMap(([title, one]) =>
    [null, 'prm_1'].flatMap((promptId) =>
      [[], before].map((rows): Case => {
        const what = `${promptId === null ? 'no id' : 'an id without a record'}${rows.length > 0 ? ', after another prompt' : ''}`;
        return {
          ...one,
          title: `a history that ${title}: ${what}`,
          promptId,
          before: rows,
          record: refusing(404, 'not_found'),
        };
      }),
    ),
  ),
];

let stand: ActivityStand;
const ends = new Map<string, PromptEnd>();
const idOf = (at: number) => `bx_${'23456789'.at(at >> 6)}${'23456789'.at((at >> 3) & 7)}${'23456789'.at(at & 7)}22222`;

function reply({ url }: SeenRequest, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://stand');
  const [, , , id = '', kind] = pathname.split('/');
  const sandboxOf = (of: string) => ({ ...aSandbox, id: of, state: 'idle' });
  answerOf(id, kind, sandboxOf)(response, searchParams);
}

function answerOf(id: string, kind: string | undefined, sandboxOf: (id: string) => object): Reply {
  if (id === '') return json({ sandboxes: cases.map((_, at) => sandboxOf(idOf(at))) });
  if (kind === undefined) return json({ sandbox: sandboxOf(id) });
  const one = cases[cases.findIndex((_, at) => idOf(at) === id)];
  if (!one) return html(500);
  if (kind === 'prompts') return one.record ?? html(404);
  const assumed = [...one.before, ...turn(one.before.length + 1, 'Work.', 'done')];
  const rows = one.rows?.(assumed) ?? assumed;
  return one.history?.(rows) ?? json({ events: rows });
}

beforeAll(async () => {
  stand = await createActivityStand();
  stand.answer(reply);
  const follow = async ({ title, promptId }: Case, at: number) => {
    const input: FollowPromptInput = {
      ...{ sandboxId: idOf(at), promptId, conversationId: 'conv_1', prompt: 'Work.', knownPromptIds: [] },
      ...{ recordKey: `none-${at}`, isOwnSandbox: true, resultKey: `result-${at}`, answerBytes: 1_000 },
      ...{ sideBySide: false, readLagMs: 1_500 },
    };
    ends.set(title, (await stand.run('followPrompt', input)).value as PromptEnd);
  };
  await Promise.all(cases.map(follow));
});
afterAll(() => stand.close());

describe('a follow ends, and tells what it could not read, on a service with', () => {
  it.each(cases)('$title', ({ title, ends: expected }) => {
    expect({ note: undefined, ...ends.get(title) }).toMatchObject(expected);
  });
});
