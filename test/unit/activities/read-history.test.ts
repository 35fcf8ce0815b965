import { afterEach, describe, expect, it } from 'vitest';
import { readNewHistory, readQueuedPrompts } from '../../../activities/prompt/evidence.js';
import { readHistory } from '../../../activities/prompt/history.js';
import { recordOf } from '../../../activities/prompt/record.js';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import { type Stand, startStand } from '../client/http-harness.js';
import { attempt } from './attempt.js';

const sandboxId = 'bx_0123456789abcdef01234567';
const idOf = (at: number) => `sev_${at.toString(16).padStart(24, '0')}`;
const event = (at: number) => ({
  id: idOf(at),
  type: 'prompt.queued',
  conversationId: 'conv_0123456789abcdef01234567',
  createdAt: new Date(1_700_000_000_000 + at).toISOString(),
  data: { prompt: 'again' },
});
/** Every second event ends the prompt before it. */
const turns = (at: number) => (at % 2 === 0 ? event(at) : { ...event(at), type: 'prompt.completed', data: {} });
const bad = (at: number) => ({ ...event(at), type: 7 });

let closing: readonly (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
});

/** How a service may treat the id of an event that `after` names. */
type Paging = 'paged' | 'ignored' | 'refused' | 'unknown';

/** Pages of 100 events, which may differ at each request. */
async function serving(
  count: number,
  row: (at: number, ask: number) => object,
  paging: Paging = 'paged',
): Promise<[SandboxClient, Stand]> {
  let asks = 0;
  const stand = await startStand(({ url }, response) => {
    asks += 1;
    const after = new URL(url, 'http://stand').searchParams.get('after');
    response.setHeader('content-type', 'application/json');
    if (after !== null && paging === 'refused') {
      const error = { code: 'invalid_request', message: 'No event has this id.' };
      response.writeHead(400).end(JSON.stringify({ ok: false, error }));
      return;
    }
    const isWhole = after === null || paging === 'ignored';
    const first = isWhole ? 0 : paging === 'unknown' ? count : Number.parseInt(after.replace(/^.*[_-]/, ''), 16) + 1;
    const length = Math.max(0, Math.min(100, count - first));
    const events = Array.from({ length }, (_, at) => row(first + at, asks));
    response.end(JSON.stringify({ ok: true, type: 'event.list', events }));
  });
  const client = createSandboxClient({ baseUrl: stand.url, apiKey: 'test-key' });
  closing = [() => client.close(), () => stand.close()];
  return [client, stand];
}

it('continues after a page with one unreadable event', async () => {
  const [client] = await serving(150, (at) => (at === 40 ? bad(at) : event(at)));
  const history = await readHistory(client, sandboxId, { conversationId: null, attempt });
  expect(history.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, at) => idOf(at)).toSpliced(40, 1));
});

it('puts no older event after newer ones if a service sends a page again', async () => {
  const [client] = await serving(150, (at, ask) => (at === 40 && ask === 1 ? bad(at) : event(at)), 'ignored');
  const history = await readHistory(client, sandboxId, { conversationId: null, attempt });
  expect(history.at(-1)?.id).toBe(idOf(99));
});

describe('events whose ids have another form', () => {
  const other = (at: number) => ({ ...event(at), id: `event-${at.toString(16)}` });

  it('are read to the end', async () => {
    const [client] = await serving(250, other);
    const history = await readHistory(client, sandboxId, { conversationId: null, attempt });
    expect(history.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, at) => other(at).id));
  });

  it('end the read if the service sends no new one', async () => {
    const [client, { seen }] = await serving(250, other, 'ignored');
    expect(await readHistory(client, sandboxId, { conversationId: null, attempt })).toHaveLength(100);
    expect(seen).toHaveLength(2);
  });
});

const query = {
  ...{ sandboxId, conversationId: null, knownPromptIds: [], knownConversationIds: [] },
  ...{ recordKey: 'none', isOwnSandbox: true, sandboxMadeAt: null },
};

it('records an event that is unreadable at first, so that it is not taken for a new prompt later', async () => {
  const [client] = await serving(2, (at, ask) => (at === 0 && ask === 1 ? bad(at) : event(at)));
  const { queued } = await readQueuedPrompts(client, query, { attempt, previous: null });
  expect(queued).toHaveLength(2);
});

it('gives up on a permanently unreadable event', async () => {
  const [client, stand] = await serving(2, (at) => (at === 0 ? bad(at) : event(at)));
  const { queued } = await readQueuedPrompts(client, query, { attempt, previous: null });
  expect(queued).toHaveLength(1);
  expect(stand.seen).toHaveLength(3);
});

describe('the record of a later prompt of a conversation', () => {
  const conversationId = 'conv_0123456789abcdef01234567';
  const inConversation = { ...query, conversationId };
  const previous = { ...recordOf({ queued: [], since: null, rest: idOf(249) }, null), by: 'x' };
  const asked = ({ seen }: Stand) => seen.map(({ url }) => new URL(url, 'http://stand').searchParams.get('after'));

  it('takes one read after the previous prompt, however long the conversation is', async () => {
    const [client, stand] = await serving(252, turns);
    const before = await readQueuedPrompts(client, inConversation, { attempt, previous });
    expect(asked(stand)).toEqual([idOf(249)]);
    expect(before).toMatchObject({ since: idOf(249), rest: idOf(251) });
    expect(before.queued.map(({ id }) => id)).toEqual([idOf(250)]);
  });

  it.each(['refused', 'unknown'] as const)('lists the whole history if the event is %s', async (paging) => {
    const [client] = await serving(52, turns, paging);
    const before = await readQueuedPrompts(client, inConversation, {
      attempt,
      previous: { ...previous, rest: idOf(49) },
    });
    expect(before).toMatchObject({ since: null, rest: idOf(51) });
    expect(before.queued).toHaveLength(26);
  });

  it('lists the later events of a service without paging', async () => {
    const [client] = await serving(52, turns, 'ignored');
    const before = await readQueuedPrompts(client, inConversation, {
      attempt,
      previous: { ...previous, rest: idOf(49) },
    });
    expect(before).toMatchObject({ since: idOf(49), rest: idOf(51) });
    expect(before.queued.map(({ id }) => id)).toEqual([idOf(50)]);
  });

  it('begins the search where the record began', async () => {
    const [client, stand] = await serving(252, turns);
    const found = await readNewHistory(client, sandboxId, { conversationId, attempt }, { since: idOf(249) });
    expect(asked(stand)).toEqual([idOf(249)]);
    expect(found.map(({ id }) => id)).toEqual([idOf(250), idOf(251)]);
  });

  it.each(['refused', 'unknown'] as const)(
    'is compared with the whole history if the event is %s afterwards',
    async (paging) => {
      const [client] = await serving(52, turns, paging);
      expect(await readNewHistory(client, sandboxId, { conversationId, attempt }, { since: idOf(49) })).toHaveLength(
        52,
      );
    },
  );
});
