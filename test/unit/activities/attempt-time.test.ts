/** Writes of an attempt whose time is over. Tier: unit. */
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { expect, it } from 'vitest';
import { createFanoutStore } from '../../../activities/fanout/store.js';
import { createPromptRecords, recordOf } from '../../../activities/prompt/record.js';
import { whileAttemptLives } from '../../../activities/retry/attempt.js';
import { sendRecorded } from '../../../activities/retry/recorded-call.js';
import { storeObjectActivity } from '../../../activities/store/texts.js';
import type { ResultStore } from '../../../src/result-store/index.js';
import { storedJson } from '../../../src/result-store/stored-json.js';

/** Runs `body` as an attempt with this much time, in ms. */
function attempt<T>(startToCloseTimeoutMs: number, body: (cancel: Cancel) => T): T {
  const cancelled = new AbortController();
  const context = {
    info: { startToCloseTimeoutMs, isLocal: true, attempt: 1 },
    cancellationSignal: cancelled.signal,
    cancellationDetails: undefined as object | undefined,
  };
  const cancel: Cancel = (details) => {
    context.cancellationDetails = details;
    cancelled.abort();
  };
  return asyncLocalStorage.run(context as unknown as Context, () => body(cancel));
}
type Cancel = (details: object) => void;

const never = (signal?: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
const item = storedJson({ job: null, times: { endedAt: null } });
/** Each write lasts until its caller gives it up. */
const stalled = {
  find: async (key: string) => (key === 'missing' ? null : key),
  get: async () => item,
  put: (_key, _content, { signal } = {}) => never(signal),
} as Partial<ResultStore> as ResultStore;

const fanout = createFanoutStore(stalled);
const record = { ...recordOf({ queued: [], since: null, rest: null }, null), by: 'a' };
const call = { record: 'missing', body: {}, firstSentAtMs: 0, lookFirst: false };
const ending = { stop: null, deletion: null, left: [], apiCalls: 0, error: null, endedAt: '' };
const writes: Readonly<Record<string, () => Promise<unknown>>> = {
  'the record of a prompt': () => createPromptRecords(stalled).write('a', record, { withinMs: 60_000 }),
  'the record of a fork': () => sendRecorded(call, { results: stalled, send: () => never() }),
  'an object of a workflow': () => storeObjectActivity(stalled)('a', {}),
  'the end of a fork': () => fanout.settleFanoutItem({ key: 'a', ending }),
  'the ends of items': () => fanout.addItemEndings([{ key: 'a', item: {} } as never]),
  'a lost item': () => fanout.storeLostItem('missing', {} as never),
};

it.each(Object.entries(writes))('an attempt whose time is over writes no more: %s', async (_, write) => {
  await expect(attempt(20, write)).rejects.toThrow('The time of this attempt is over');
});

it('an attempt that Temporal does not know any more writes no more, and a cancelled one does', async () => {
  const write = (details: object) =>
    attempt(60_000, (cancel) =>
      whileAttemptLives(async (signal) => {
        cancel(details);
        return signal.aborted;
      }),
    );
  expect(await write({ notFound: true })).toBe(true);
  expect(await write({ timedOut: true })).toBe(true);
  expect(await write({ cancelRequested: true })).toBe(false);
});

it('an attempt of 30 days writes, as those that follow prompts do', async () => {
  const write = () =>
    whileAttemptLives(async (signal) => {
      // A timer that is too long fires after 1 ms.
      await new Promise((resolve) => setTimeout(resolve, 10));
      return signal.aborted;
    });
  expect(await attempt(30 * 86_400_000, write)).toBe(false);
});
