/** Prompts while the result store does not answer. Time is faked. Tier: unit. */
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPromptRecords, recordOf } from '../../../activities/prompt/record.js';
import { type SendPromptInput, sendPromptActivity } from '../../../activities/prompt/send.js';
import { type RecordedCall, sendRecorded } from '../../../activities/retry/recorded-call.js';
import type { SandboxClient } from '../../../src/client/index.js';
import type { ResultStore } from '../../../src/result-store/index.js';

const attemptMs = 60_000;
const accepted = { promptId: 'pr_1', conversationId: 'conv_1' };
const query: SendPromptInput['query'] = {
  ...{ sandboxId: 'bx_22222222', conversationId: null, knownPromptIds: [], knownConversationIds: [] },
  ...{ recordKey: 'k', isOwnSandbox: true, isFirst: true, sandboxMadeAt: null },
};
const queued = {
  ...{ id: 'sev_1', type: 'prompt.queued', createdAt: '2026-01-01T00:00:00Z', data: { prompt: 'Go on.' } },
  ...accepted,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hung = () => new Promise<never>(() => {});

/** Sends a prompt in an attempt, and tells what Temporal has of it before its time is over. */
async function send(store: Partial<ResultStore>, details?: object) {
  const sent = vi.fn(async () => accepted);
  const heartbeats: { phase?: string }[] = [];
  const client = { sendPrompt: sent, listEvents: async () => ({ events: [queued] }) };
  const context = {
    info: {
      ...{ attempt: details ? 2 : 1, activityId: '1', workflowExecution: { runId: 'run' }, heartbeatDetails: details },
      ...{ startToCloseTimeoutMs: attemptMs, currentAttemptScheduledTimestampMs: Date.now() },
    },
    cancellationSignal: new AbortController().signal,
    heartbeat: () => undefined,
    client: { activity: { heartbeat: async (_: unknown, intent: object) => void heartbeats.push(intent) } },
  };
  const activity = sendPromptActivity(client as never as SandboxClient, store as ResultStore);
  const input: SendPromptInput = { query, body: { prompt: 'Go on.' }, earlier: 'known_not' };
  let end: unknown = 'the time of the attempt is over';
  const record = (outcome: unknown) => {
    end = outcome;
  };
  // Timers that are faked run in the context of whoever lets the time pass.
  return asyncLocalStorage.run(context as never as Context, async () => {
    void activity(input).then(record, record);
    await vi.advanceTimersByTimeAsync(attemptMs - 1);
    return { end, sent: sent.mock.calls.length, phase: heartbeats.findLast(({ phase }) => phase)?.phase };
  });
}

it('a record that is not stored in time sends nothing, and Temporal learns that in time', async () => {
  const message = expect.stringContaining('The time');
  expect(await send({ put: hung })).toMatchObject({ end: { message }, sent: 0, phase: 'not_sent' });
});

it('an answer counts although it cannot be recorded', async () => {
  const put = vi.fn<ResultStore['put']>(hung).mockResolvedValueOnce({ ref: 'r', size: 1, sha256: '' });
  expect(await send({ put })).toMatchObject({ end: accepted, sent: 1 });
});

it.each([
  ['hangs', hung],
  ['fails', () => Promise.reject(new Error('no network'))],
])('the history is searched although the store %s', async (_, find) => {
  const known = recordOf({ queued: [], since: null, rest: null }, null);
  const put = find as ResultStore['put'];
  expect(await send({ find, put }, { phase: 'sending', known })).toMatchObject({ end: accepted, sent: 0 });
});

it('no two writes of a record have the same bytes', async () => {
  const put = vi.fn<ResultStore['put']>(async () => ({ ref: 'r', size: 1, sha256: '' }));
  const record = { ...recordOf({ queued: [], since: null, rest: null }, null), by: 'a' };
  const context = { info: {}, cancellationSignal: new AbortController().signal };
  const write = () =>
    createPromptRecords({ put } as Partial<ResultStore> as ResultStore).write('k', record, { withinMs: 1_000 });
  await asyncLocalStorage.run(context as never as Context, async () => {
    await write();
    await write();
  });
  const [one, other] = put.mock.calls.map(([, content]) => Buffer.from(content).toString());
  expect(one).not.toEqual(other);
});

it.each([
  [1, 1],
  [2, 2],
])(
  'attempt %i at a fork leaves %i records of its own, so that a late one of an attempt before replaces none',
  async (attempt, writes) => {
    let stored: Buffer | undefined;
    const put = vi.fn(async (_: string, content: Uint8Array) => {
      stored = Buffer.from(content);
      return { ref: 'k', size: content.byteLength, sha256: '' };
    });
    const find = async () => (stored ? 'k' : null);
    const results = { put, find, get: async () => stored } as Partial<ResultStore> as ResultStore;
    const call: RecordedCall<object> = { body: { name: 'n' }, firstSentAtMs: 0, lookFirst: false, record: 'k' };
    const made = { sandboxId: 'bx_22222222', createdAt: null } as never;
    const run = (attempt: number) => {
      const info = { attempt, workflowExecution: { runId: 'run' } };
      const context = { info, cancellationSignal: new AbortController().signal };
      return asyncLocalStorage.run(context as never as Context, () =>
        sendRecorded(call, { results, send: () => Promise.resolve(made) }),
      );
    };
    await run(1);
    await run(attempt);
    const contents = put.mock.calls.map(([, content]) => Buffer.from(content).toString());
    expect(contents).toHaveLength(writes);
    expect(new Set(contents).size).toBe(writes);
    expect(contents.every((content) => JSON.parse(content).state === 'sent')).toBe(true);
  },
);
