/** Forks of one state begin alike, so one of them can tell of the others. Tier: unit. */
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type SendPromptInput, sendPromptActivity } from '../../../activities/prompt/send.js';
import type { Attempt } from '../../../activities/retry/attempt.js';
import { createSharedSourceReads } from '../../../activities/sandbox/source-state.js';
import type { SandboxClient } from '../../../src/client/index.js';
import type { SourceState } from '../../../src/contract/workflow-safe/source-state.js';
import type { ResultStore } from '../../../src/result-store/index.js';
import { attempt } from './attempt.js';

const state = (stopId = 'stop_1'): SourceState => ({
  kind: 'sandbox',
  sandboxId: 'bx_22222222',
  snapshotCompletedAt: null,
  stopId,
});

describe('the history of a fork before its first prompt', () => {
  const old = { id: 'sev_1', type: 'prompt.queued', createdAt: '2026-01-01T00:00:00Z', data: { prompt: 'Go on.' } };

  /** @returns a function that sends the first prompt of a fork, and tells whether its history was read */
  function service(history: () => readonly object[]) {
    const read = vi.fn(async () => ({ events: history() }));
    const accepted = async () => ({ promptId: 'pr_1', conversationId: 'conv_1' });
    const client = { sendPrompt: accepted, listEvents: read } as never as SandboxClient;
    const results = { put: async () => undefined, find: async () => null } as never as ResultStore;
    const activity = sendPromptActivity(client, results);
    return async (firstOfFork: SourceState, number = 1, conversationId: string | null = null) => {
      const info = {
        ...{ attempt: number, activityId: '1', workflowExecution: { runId: 'run' } },
        ...{ startToCloseTimeoutMs: 60_000, currentAttemptScheduledTimestampMs: Date.now() },
      };
      const context = {
        ...{ info, heartbeat: () => undefined, cancellationSignal: new AbortController().signal },
        client: { activity: { heartbeat: async () => undefined } },
      };
      const query: SendPromptInput['query'] = {
        ...{ sandboxId: 'bx_33333333', conversationId, knownPromptIds: [], knownConversationIds: [] },
        ...{ recordKey: 'k', isOwnSandbox: true, firstOfFork, sandboxMadeAt: null },
      };
      const before = read.mock.calls.length;
      await asyncLocalStorage.run(context as never as Context, () =>
        activity({ query, body: { prompt: 'Go on.' }, earlier: 'ask_record' }),
      );
      return read.mock.calls.length > before;
    };
  }

  it('is read until one fork of the state has begun without prompts', async () => {
    const isReadFor = service(() => []);
    expect([await isReadFor(state()), await isReadFor(state()), await isReadFor(state('stop_2'))]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('is read each time if forks begin with the prompts of their source', async () => {
    const isReadFor = service(() => [old]);
    expect([await isReadFor(state()), await isReadFor(state())]).toEqual([true, true]);
  });

  it('is read although one conversation of another fork had no prompts', async () => {
    const isReadFor = service(() => []);
    expect([await isReadFor(state(), 1, 'conv_1'), await isReadFor(state())]).toEqual([true, true]);
  });

  it('is read by a later attempt, because the earlier one may have prompted', async () => {
    const isReadFor = service(() => []);
    expect([await isReadFor(state()), await isReadFor(state(), 2)]).toEqual([true, true]);
  });
});

describe('the read of a source after its forks', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const archived = { id: 'bx_22222222', state: 'archived', stop: { id: 'stop_1', status: 'completed' } };

  it('serves the forks that were answered before it began, and no later one', async () => {
    let calls = 0;
    const call: Attempt['call'] = (make) => {
      calls += 1;
      return attempt.call(make);
    };
    const read = vi.fn(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { sandbox: archived };
    });
    const change = createSharedSourceReads({ getSandbox: read } as never as SandboxClient);
    const ask = (of = state()) => change({ call }, of);
    const first = [ask(), ask(), ask(state('stop_0'))];
    await vi.advanceTimersByTimeAsync(120);
    const late = ask();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all([...first, late])).toEqual([
      null,
      null,
      expect.stringContaining('its last stop is stop_1'),
      null,
    ]);
    expect(read, 'one for each state, and one for the late fork').toHaveBeenCalledTimes(3);
    expect(calls, 'each read counts once').toBe(3);
  });

  it('that fails is no answer to any of them, and the next one is made', async () => {
    const read = vi.fn(async () => ({ sandbox: archived })).mockRejectedValueOnce(new Error('no answer'));
    const change = createSharedSourceReads({ getSandbox: read } as never as SandboxClient);
    const asked = Promise.allSettled([change(attempt, state()), change(attempt, state())]);
    await vi.advanceTimersByTimeAsync(200);
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = change(attempt, state());
    await vi.advanceTimersByTimeAsync(200);
    expect(await again).toBeNull();
  });
});
