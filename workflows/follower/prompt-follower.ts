/**
 * Tells jobs when their prompts may have ended. The service sends no event for that (trap S1). One follower reads the
 * sandboxes for all jobs of a task queue, so a job that waits holds no activity. It runs while prompts are registered.
 */
import { patched, setHandler, workflowInfo } from '@temporalio/workflow';
import { followTaskQueue } from '../../src/addresses/addresses.js';
import { maxFollowedInAnswer } from '../../src/protocol/limits.js';
import { type Followed, type FollowRegistration, followedQuery, followSignal } from '../../src/protocol/messages.js';
import { followerProxies } from '../shared/activity-options.js';
import { moveOn, mustMoveOn } from '../shared/continue-as-new.js';

export interface PromptFollowerInput {
  /** Carried over from an earlier run of the chain. */
  readonly followed?: readonly FollowRegistration[];
  /** Number of events after which the follower continues as new. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
}

/** The input of the next run has up to 152 bytes per registration. Temporal's limit is 2 MiB. */
const followedAtMost = 10_000;
/** Temporal ends a run at 10,000 signals. */
const signalsAtMost = 5_000;

export async function promptFollower({ followed: earlier = [], ...input }: PromptFollowerInput = {}): Promise<void> {
  const followed = new Map<string, Followed>();
  let number = 0;
  const add = (registration: FollowRegistration) => {
    number += 1;
    // A job beyond the limit reads its sandbox by itself, at longer intervals.
    if (followed.size < followedAtMost || followed.has(registration.workflowId))
      followed.set(registration.workflowId, { ...registration, number });
  };
  earlier.forEach(add);
  setHandler(followSignal, add);
  // As an input of every round, they would fill the history.
  setHandler(followedQuery, ({ after = 0 } = {}) =>
    [...followed.values()]
      .filter((one) => one.number > after)
      .sort((a, b) => a.number - b.number)
      .slice(0, maxFollowedInAnswer),
  );
  const { watchRunning } = followerProxies(followTaskQueue(workflowInfo().taskQueue));
  for (;;) {
    // Also one without its times, which somebody has sent by hand.
    for (const { workflowId, sinceMs, untilMs } of followed.values())
      if (!(sinceMs < untilMs && Date.now() < untilMs)) followed.delete(workflowId);
    if (followed.size === 0) return;
    if (number - earlier.length >= signalsAtMost || mustMoveOn(input.maxHistoryEvents))
      await moveOn<typeof promptFollower>({ ...input, followed: [...followed.values()] });
    const round = [...followed.values()];
    // A follower that began before this gave each round what it follows, and was answered with places in it.
    const asks = patched('asks-what-it-follows');
    const told = new Set(await (asks ? watchRunning() : watchRunning(round)));
    for (const [place, one] of round.entries()) {
      // A job that has registered again since waits for another end.
      const isFollowed = followed.get(one.workflowId) === one;
      if (isFollowed && told.has(asks ? one.number : place)) followed.delete(one.workflowId);
    }
  }
}
