/**
 * Tells jobs when their prompts may have ended. The service sends no event for that (trap S1). One follower reads the
 * sandboxes for all jobs of a task queue, so a job that waits holds no activity. It runs while prompts are registered.
 */
import { continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import { followTaskQueue } from '../../src/addresses/addresses.js';
import { type FollowRegistration, followSignal } from '../../src/protocol/messages.js';
import { hasLongHistory } from '../shared/continue-as-new.js';
import { followerProxies } from '../shared/proxies.js';

export interface PromptFollowerInput {
  /** Carried over from an earlier run of the chain. */
  readonly followed?: readonly FollowRegistration[];
  /** Number of events after which the follower continues as new. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
}

/** Each follower has a payload of some 80 bytes per registration in every round. Temporal's limit is 2 MB. */
const followedAtMost = 15_000;
/** Temporal ends a run at 10,000 signals. */
const signalsAtMost = 5_000;

export async function promptFollower(input: PromptFollowerInput = {}): Promise<void> {
  const followed = new Map<string, FollowRegistration>();
  const add = (registration: FollowRegistration) => {
    // A job beyond the limit reads its sandbox by itself, at longer intervals.
    if (followed.size < followedAtMost || followed.has(registration.workflowId))
      followed.set(registration.workflowId, registration);
  };
  input.followed?.forEach(add);
  let signals = 0;
  setHandler(followSignal, (registration) => {
    signals += 1;
    add(registration);
  });
  const { watchRunning } = followerProxies(followTaskQueue(workflowInfo().taskQueue));
  for (;;) {
    // Also one without a time, which somebody has sent by hand.
    for (const { workflowId, untilMs } of [...followed.values()])
      if (!(untilMs > Date.now())) followed.delete(workflowId);
    if (followed.size === 0) return;
    const round = [...followed.values()];
    if (signals >= signalsAtMost || hasLongHistory(input.maxHistoryEvents))
      await continueAsNew<typeof promptFollower>({ ...input, followed: round });
    for (const index of await watchRunning(round)) {
      const told = round[index];
      // A job that has registered again since waits for another end.
      if (told && followed.get(told.workflowId) === told) followed.delete(told.workflowId);
    }
  }
}
