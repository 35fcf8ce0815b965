import { afterEach, describe, expect, it } from 'vitest';
import { transcriptKey } from '../../../../src/addresses/transcript-places.js';
import { createEntryText } from '../../../../src/cli/output/transcript-entry.js';
import { entriesOfEvents } from '../../../../src/cli/transcript/entry.js';
import { createHistoryReader } from '../../../../src/cli/transcript/history-reader.js';
import { createTranscript } from '../../../../src/cli/transcript/transcript.js';
import { createSandboxClient, type SandboxClient } from '../../../../src/client/index.js';
import type { SandboxHistoryEvent } from '../../../../src/contract/records/sandbox-records.js';
import type { PromptResult } from '../../../../src/protocol/job/job-result.js';
import { storedJson } from '../../../../src/result-store/stored-json.js';
import { type Answer, type Stand, startStand } from '../../client/http-harness.js';

const sandboxId = 'bx_2345abcd';
const conversationId = 'conv_0123456789abcdef01234567';
const promptId = 'prm_0123456789abcdef01234567';
const second = (at: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, at)).toISOString();
const event = (at: number, type: string, data: Record<string, unknown>): SandboxHistoryEvent => ({
  id: `sev_${at.toString(16).padStart(24, '0')}`,
  ...{ type, conversationId, promptId, createdAt: second(at), data },
});

const history = [
  event(2, 'prompt.queued', { prompt: 'do it' }),
  event(4, 'agent.tool', { command: 'date', exitCode: 0, output: 'noon' }),
  event(5, 'agent.message', { text: 'noon' }),
  event(7, 'prompt.completed', {}),
];
const prompt: PromptResult = {
  ...{ prompt: 'do it', promptRef: null, promptId, conversationId, status: 'completed', result: 'noon' },
  ...{ resultRef: null, error: null, queuedAt: second(2), startedAt: second(2), endedAt: second(7) },
};
const job = {
  sandboxId,
  prompts: [prompt],
  phases: [
    { phase: 'following', at: second(3) },
    { phase: 'stopping', at: second(8) },
  ],
  wakes: [
    { waitedFor: 'usable', by: 'webhook', event: 'sandbox.ready', lagMs: 1, waitedMs: 2, at: second(1) } as const,
  ],
} as const;

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const one of close) await one();
  close = [];
});
async function serving(answer: Answer): Promise<[SandboxClient, Stand]> {
  const stand = await startStand(answer);
  const client = createSandboxClient({ baseUrl: stand.url, apiKey: 'test-key' });
  close.push(() => client.close(), stand.close);
  return [client, stand];
}
const eventsFrom = (events: readonly SandboxHistoryEvent[]): Answer => {
  return ({ url }, response) => {
    const after = new URL(url, 'http://stand').searchParams.get('after');
    const list = events.filter(({ id }) => after === null || id > after);
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ok: true, type: 'event.list', events: list }));
  };
};
/** As `eventsFrom`, a page at a time. */
const inPages = (size: number, events: readonly SandboxHistoryEvent[]): Answer => {
  return (request, response) => {
    const after = new URL(request.url, 'http://stand').searchParams.get('after');
    const first = events.findIndex(({ id }) => after === null || id > after);
    return eventsFrom(first < 0 ? [] : events.slice(first, first + size))(request, response);
  };
};
const refusingFor =
  (retryAfter: string): Answer =>
  (_, response) => {
    response
      .writeHead(429, { 'content-type': 'application/json', 'retry-after': retryAfter })
      .end(
        JSON.stringify({ ok: false, type: 'sandbox.error', status: 429, code: 'rate_limited', message: 'slow down' }),
      );
  };
const refusing = refusingFor('30');

const storeOf = (objects: Readonly<Record<string, object>>) => ({
  find: async (key: string) => (key in objects ? key : null),
  get: async (ref: string) => storedJson(objects[ref] ?? {}),
});
const never = new AbortController().signal;
const kindsOf = (entries: readonly { readonly kind: string }[]) => entries.map(({ kind }) => kind);
const inOrder = ['wake', 'prompt', 'phase', 'command', 'message', 'prompt_ended', 'phase'];
const folder = async () => 'place';

describe('a transcript', () => {
  it('has the tools and the tokens of agents, and leaves out what says neither', async () => {
    const events = [
      event(2, 'prompt.queued', { prompt: 'do it' }),
      event(3, 'agent.tool', { tool: 'Write', detail: 'a.txt', failed: true, output: 'no' }),
      event(4, 'agent.tool', { something: 'else' }),
      event(5, 'agent.usage', { of: 'conversation', inputTokens: 3, cachedInputTokens: 2, outputTokens: 1 }),
      event(6, 'agent.usage', {}),
    ];
    const [prompted, ...entries] = entriesOfEvents(events, job).map(({ entry }) => entry);
    expect(prompted?.kind).toBe('prompt');
    const tokens = { inputTokens: 3, cachedInputTokens: 2, outputTokens: 1 };
    const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
    expect(entries).toEqual([
      { kind: 'tool', prompt: 1, tool: 'Write', detail: 'a.txt', failed: true, output: 'no', at: second(3) },
      { kind: 'usage', prompt: 1, of: 'conversation', ...tokens, at: second(5) },
      { kind: 'usage', prompt: 1, of: 'prompt', ...none, at: second(6) },
    ]);
  });

  it('has what the job did and what the agent said in order, and says each thing once', async () => {
    const [client] = await serving(eventsFrom(history));
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    const early = await transcript.readOn({ ...job, phases: job.phases.slice(0, 1) }, never);
    expect(kindsOf(early)).toEqual(inOrder.slice(0, -1));
    expect(kindsOf(await transcript.readEnd(job, never))).toEqual(['phase']);
  });

  it('says nothing of a prompt whose id the job does not know yet, and then the prompt before its answer', async () => {
    const next = 'prm_1123456789abcdef01234567';
    const ofNext = [event(9, 'prompt.queued', { prompt: 'now this' }), event(10, 'agent.message', { text: 'one' })];
    const [client] = await serving(eventsFrom([...history, ...ofNext.map((one) => ({ ...one, promptId: next }))]));
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    const second = { ...prompt, prompt: 'now this', status: 'sending', promptId: null, endedAt: null };
    const early = await transcript.readOn({ ...job, prompts: [prompt, second] }, never);
    expect(early.filter(({ kind }) => kind === 'message')).toMatchObject([{ text: 'noon' }]);
    const known = await transcript.readOn({ ...job, prompts: [prompt, { ...second, promptId: next }] }, never);
    expect(known).toMatchObject([
      { kind: 'prompt', prompt: 2, text: 'now this' },
      { kind: 'message', prompt: 2, text: 'one' },
    ]);
  });

  it('holds a phase back while what the agent said before it cannot be read', async () => {
    const [client] = await serving(refusing);
    const stored = { sandboxId, readAt: second(9), complete: true, events: history };
    const results = storeOf({ [transcriptKey('place', sandboxId)]: stored });
    const transcript = createTranscript({ service: () => client, results, folder });
    expect(await transcript.readOn(job, never)).toEqual([]);
    expect(kindsOf(await transcript.readEnd(job, never))).toEqual(inOrder);
  });

  it('is read from the result store once the job has ended, without a call to the service', async () => {
    const [client, { seen }] = await serving(refusing);
    const stored = { sandboxId, readAt: second(9), complete: false, events: history };
    const results = storeOf({ [transcriptKey('place', sandboxId)]: stored });
    const transcript = createTranscript({ service: () => client, results, folder });
    expect(kindsOf(await transcript.readEnd(job, never))).toEqual(inOrder);
    expect({ calls: seen.length, complete: transcript.isComplete() }).toEqual({ calls: 0, complete: false });
  });

  it('has the prompts and answers that the job kept if no history is left', async () => {
    const [client] = await serving((_, response) => void response.writeHead(404).end());
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    const entries = await transcript.readEnd(job, never);
    expect(kindsOf(entries)).toEqual(['wake', 'prompt', 'phase', 'message', 'prompt_ended', 'phase']);
    expect(transcript.hasHistory()).toBe(false);
  });

  it('leaves out what its conversation said before the job, live and stored', async () => {
    const before = [
      event(0, 'prompt.queued', { prompt: 'earlier' }),
      event(1, 'agent.message', { text: 'earlier' }),
    ].map((one) => ({ ...one, promptId: 'prm_other' }));
    const [client] = await serving(eventsFrom([...before, ...history]));
    const live = createTranscript({ service: () => client, results: storeOf({}), folder });
    expect(kindsOf(await live.readOn(job, never))).toEqual(inOrder);
    const stored = { sandboxId, readAt: second(9), complete: true, events: [...before, ...history] };
    const results = storeOf({ [transcriptKey('place', sandboxId)]: stored });
    const ended = createTranscript({ service: () => client, results, folder });
    expect(kindsOf(await ended.readEnd(job, never))).toEqual(inOrder);
    expect(kindsOf(await live.readEnd(job, never))).toEqual([]);
  });

  it('keeps what another caller prompted in its conversation after it began, and a history without prompt ids', async () => {
    const other = { ...event(6, 'agent.message', { text: 'other' }), promptId: 'prm_other' };
    const unnamed = { ...event(0, 'agent.message', { text: 'unnamed' }), promptId: null };
    const [client] = await serving(eventsFrom([unnamed, ...history, other]));
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    const texts = (await transcript.readOn(job, never)).flatMap((one) => (one.kind === 'message' ? [one.text] : []));
    expect(texts).toEqual(['unnamed', 'noon', 'other']);
    const nameless = { ...job, prompts: [{ ...prompt, promptId: null }] };
    const all = createTranscript({ service: () => client, results: storeOf({}), folder });
    expect(kindsOf(await all.readOn(nameless, never)).filter((kind) => kind === 'message')).toHaveLength(3);
  });

  it('has all pages of a history that is not stored, and says if the service did not give all of them', async () => {
    const long = Array.from({ length: 250 }, (_, at) => event(at, 'agent.message', { text: `line ${at}` }));
    const pages = inPages(100, long);
    const [client] = await serving(pages);
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    const entries = await transcript.readEnd(job, never);
    expect(kindsOf(entries).filter((kind) => kind === 'message')).toHaveLength(250);
    expect(transcript.isComplete()).toBe(true);

    const [broken] = await serving((request, response) =>
      request.url.includes('after') ? refusing(request, response) : pages(request, response),
    );
    const partial = createTranscript({ service: () => broken, results: storeOf({}), folder });
    const kinds = kindsOf(await partial.readEnd(job, never));
    expect(kinds.filter((kind) => kind === 'message')).toHaveLength(100);
    expect(partial.isComplete()).toBe(false);
  });

  it('is the same if the service has another order and numbers, and counts the rows that could not be read', async () => {
    const other = history
      .toReversed()
      .map((one, at) => ({ ...one, id: 9 - at, createdAt: Date.parse(one.createdAt ?? '') }));
    const [client] = await serving((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ok: true, type: 'event.list', events: [{ id: 'x' }, ...other] }));
    });
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    expect(kindsOf(await transcript.readEnd(job, never))).toEqual(inOrder);
    expect({ complete: transcript.isComplete(), unread: transcript.unreadRows() }).toEqual({
      complete: true,
      unread: 1,
    });
  });

  it('says how many rows could not be read when it was stored', async () => {
    const [client] = await serving(refusing);
    const stored = { sandboxId, readAt: second(9), complete: true, unreadRows: 2, events: history };
    const results = storeOf({ [transcriptKey('place', sandboxId)]: stored });
    const transcript = createTranscript({ service: () => client, results, folder });
    await transcript.readEnd(job, never);
    expect(transcript.unreadRows()).toBe(2);
  });

  it('ends, and says that it is not complete, if the service sends pages without end', async () => {
    let at = 0;
    const text = 'x'.repeat(60_000);
    const page = () => Array.from({ length: 200 }, () => event(1, 'agent.message', { text }));
    const listEvents = async () => {
      if (at > 10_000) throw new Error('nobody needs this much');
      at += 200;
      const events = page().map((one, index) => ({ ...one, id: `sev_${(at + index).toString(16).padStart(24, '0')}` }));
      return { events };
    };
    const service = () => ({ listEvents }) as unknown as SandboxClient;
    const transcript = createTranscript({ service, results: storeOf({}), folder });
    expect((await transcript.readEnd(job, never)).length).toBeGreaterThan(1_000);
    expect({ complete: transcript.isComplete(), isBounded: at < 5_000 }).toEqual({ complete: false, isBounded: true });
  });

  it('has nothing of the conversations of others', async () => {
    const foreign = { ...event(6, 'agent.message', { text: 'foreign' }), conversationId: 'conv_other' };
    const [client] = await serving(eventsFrom([...history, foreign]));
    const transcript = createTranscript({ service: () => client, results: storeOf({}), folder });
    expect(JSON.stringify(await transcript.readOn(job, never))).not.toContain('foreign');
  });
});

describe('the reader of a history', () => {
  it('cuts the texts of an agent, and does not read on after too many of them at once', async () => {
    const long = (at: number) => ({
      ...event(at, 'agent.message', { text: 'x'.repeat(70_000), extra: ['y'.repeat(70_000)] }),
      unlisted: 'z'.repeat(70_000),
    });
    let page = 0;
    const endless: Answer = (_, response) => {
      page += 1;
      const events = Array.from({ length: 1_000 }, (_, at) => ({ ...history[2], id: long(1_000 * page + at).id }));
      events.splice(0, 150, ...Array.from({ length: 150 }, (_, at) => long(1_000 * page + at)));
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ok: true, type: 'event.list', events }));
    };
    const [client, { seen }] = await serving(endless);
    const { events } = await createHistoryReader(() => client).readOn(job, never);
    expect(Math.max(...events.map((one) => JSON.stringify(one).length))).toBeLessThan(66_000);
    expect(seen).toHaveLength(2);
  });

  it('asks only for what is new', async () => {
    const [client, { seen }] = await serving(eventsFrom(history));
    const reader = createHistoryReader(() => client);
    expect((await reader.readOn(job, never)).events).toHaveLength(4);
    expect((await reader.readOn(job, never)).events).toHaveLength(0);
    expect(seen.map(({ url }) => new URL(url, 'http://stand').searchParams.get('after'))).toEqual([
      null,
      history.at(-1)?.id,
    ]);
  });

  it.each([
    ['names', (at: number) => `event-${String(at).padStart(6, '0')}`],
    ['numbers', (at: number) => String(1_000_000 + at)],
  ])('reads all pages of events whose ids are %s', async (_, idOf) => {
    const long = Array.from({ length: 250 }, (_unused, at) => ({ ...event(at, 'agent.message', {}), id: idOf(at) }));
    const [client] = await serving(inPages(100, long));
    const { events, isCurrent } = await createHistoryReader(() => client).readOn(job, never);
    expect({ ids: events.map(({ id }) => id), isCurrent }).toEqual({ ids: long.map(({ id }) => id), isCurrent: true });
  });

  it('ends at the first page of a service that ignores where a read begins', async () => {
    const long = Array.from({ length: 150 }, (_, at) => ({ ...event(at, 'agent.message', {}), id: `event ${at}` }));
    const [client, { seen }] = await serving(eventsFrom(long));
    expect((await createHistoryReader(() => client).readOn(job, never)).isCurrent).toBe(true);
    expect(seen).toHaveLength(2);
  });

  it('keeps the pages before a failure', async () => {
    const long = Array.from({ length: 150 }, (_, at) => event(at, 'agent.message', { text: `line ${at}` }));
    let isBroken = true;
    const pages = inPages(100, long);
    const [client] = await serving((request, response) => {
      const isRefused = isBroken && request.url.includes('after');
      return isRefused ? void response.writeHead(503, { 'retry-after': '0' }).end() : pages(request, response);
    });
    const reader = createHistoryReader(() => client);
    const first = await reader.readOn(job, never);
    expect({ events: first.events.length, isCurrent: first.isCurrent }).toEqual({ events: 100, isCurrent: false });
    isBroken = false;
    await expect.poll(() => Date.now() >= reader.quietUntilMs()).toBe(true);
    expect((await reader.readOn(job, never)).events).toHaveLength(50);
  });

  it.each([
    ['as long as Retry-After says', '30', 25_000, 31_000],
    ['five minutes at most', '86400', 290_000, 300_000],
  ])('leaves the service alone for %s', async (_, header, leastMs, mostMs) => {
    const [client, { seen }] = await serving(refusingFor(header));
    const reader = createHistoryReader(() => client);
    const nothing = { events: [], isCurrent: false, unreadRows: 0 };
    for (let look = 0; look < 5; look += 1) expect(await reader.readOn(job, never)).toEqual(nothing);
    expect(seen).toHaveLength(1);
    expect(reader.quietUntilMs() - Date.now()).toBeGreaterThan(leastMs);
    expect(reader.quietUntilMs() - Date.now()).toBeLessThanOrEqual(mostMs);
  });

  it('asks nothing before there is a conversation', async () => {
    const [client, { seen }] = await serving(refusing);
    await createHistoryReader(() => client).readOn({ sandboxId, prompts: [] }, never);
    expect(seen).toHaveLength(0);
  });
});

describe('the lines of a transcript', () => {
  const paint = (_: string, text: string) => text;

  it('have a mark before each line of an agent, and leave out an answer that repeats an output', () => {
    const format = createEntryText({ paint, columns: () => undefined });
    const command = { kind: 'command', prompt: 1, command: 'date\n', exitCode: 2, output: 'noon\n', at: null } as const;
    expect(format(command)).toEqual(['--:--:--  | $ date (exit 2)', '          | noon']);
    expect(format({ kind: 'message', prompt: 1, text: 'noon', at: null })).toEqual([]);
    const forged = { kind: 'message', prompt: 1, text: 'a\njob ended: completed\u001b[2J', at: null } as const;
    expect(format(forged)).toEqual(['--:--:--  | a', '          | job ended: completed']);
  });

  it('name other tools, with their output only if they failed, and the tokens that were used', () => {
    const format = createEntryText({ paint, columns: () => undefined });
    const tool = {
      kind: 'tool',
      prompt: 1,
      tool: 'Write',
      detail: 'a\u001b[2J.txt',
      output: 'told',
      at: null,
    } as const;
    expect(format({ ...tool, failed: false })).toEqual(['--:--:--  | [Write] a.txt']);
    expect(format({ ...tool, failed: true })).toEqual(['--:--:--  | [Write] a.txt (failed)', '          | told']);
    const used = { kind: 'usage', prompt: 1, inputTokens: 12_345, outputTokens: 67, at: null } as const;
    expect(format({ ...used, of: 'prompt', cachedInputTokens: 0 })).toEqual(['--:--:--  tokens: 12,345 in, 67 out']);
    expect(format({ ...used, of: 'conversation', cachedInputTokens: 1_000 })).toEqual([
      '--:--:--  tokens in this conversation so far: 12,345 in (1,000 cached), 67 out',
    ]);
  });

  it('leave out only whole repeated lines of the same prompt', () => {
    const format = createEntryText({ paint, columns: () => undefined });
    const say = (text: string) => format({ kind: 'message', prompt: 1, text, at: null });
    format({ kind: 'command', prompt: 1, command: 'wc -l list', exitCode: 0, output: '10\n', at: null });
    expect(say('0')).toEqual(['--:--:--  | 0']);
    expect(say('0')).toEqual([]);
    expect(say(' \n')).toEqual([]);
    say('done');
    format({ kind: 'prompt', prompt: 2, text: 'again', at: null });
    expect(say('done')).toEqual(['--:--:--  | done']);
  });

  it('show once what a command printed while it ran and after it, also the same line twice', () => {
    const parts = (text: string) => ({ text, part: true });
    const events = [
      event(3, 'agent.message', parts('waiting\n')),
      event(4, 'agent.message', parts('waiting\n')),
      event(5, 'agent.message', parts('\n  ready\nwaiting\n')),
      event(6, 'agent.tool', { command: 'wait', exitCode: 0, output: '  10 passed\nok\nnote\n' }),
      event(7, 'agent.message', parts('  10 passed\nok\n')),
      event(8, 'agent.message', parts('ok\n')),
    ];
    const format = createEntryText({ paint, columns: () => undefined });
    const lines = entriesOfEvents(events, job).flatMap(({ entry }) => format({ ...entry, at: null }));
    expect(lines.map((line) => line.slice('--:--:--  '.length))).toEqual([
      ...['| waiting', '| waiting', '| ', '|   ready', '| waiting'],
      ...['| $ wait', '|   10 passed', '| ok', '| note', '| ok'],
    ]);
  });

  it('are wrapped on a terminal, each part with its mark', () => {
    const format = createEntryText({ paint, columns: () => 63 });
    const lines = format({ kind: 'message', prompt: 1, text: `${'a'.repeat(50)}日本`, at: null });
    expect(lines).toEqual([`--:--:--  | ${'a'.repeat(50)}`, '          | 日本']);
  });

  it('are not indented on a narrow terminal', () => {
    const format = createEntryText({ paint, columns: () => 30 });
    expect(format({ kind: 'message', prompt: 1, text: 'a'.repeat(30), at: null })).toEqual([
      '--:--:--',
      `| ${'a'.repeat(27)}`,
      '| aaa',
    ]);
  });
});
