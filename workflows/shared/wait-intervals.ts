/** Computes the length of waits. Pure. */

import { defaultReadLagMs } from '../../src/contract/workflow-safe/limits.js';
import type { FanoutIntervals } from '../../src/protocol/fanout/fanout-input.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { defaultCleanUpMs } from '../../src/protocol/limits.js';

export const defaultTiming: JobTiming = {
  safetyPollFirstMs: 5_000,
  safetyPollGrowth: 2,
  safetyPollMaxMs: 300_000,
  promptPollMaxMs: 1_200_000,
  commandSilenceMs: 300_000,
  errorGraceMs: 180_000,
  cleanUpMs: defaultCleanUpMs,
  readLagMs: defaultReadLagMs,
  leaseLastsMs: 1_800_000,
  renewLeaseEveryMs: 600_000,
};

export const defaultFanoutIntervals: FanoutIntervals = {
  reportEveryMs: 1_000,
  checkChunksEveryMs: 60_000,
  recoverEveryMs: 10_000,
  maxHistoryEvents: null,
  maxMessages: 1_500,
};

/**
 * An item may take its cleanup time twice: once to search for a fork whose answer does not arrive, and once to end the
 * fork.
 */
const cleanUpsOfItem = 2;
const itemSlackMs = 60_000;

/** How long the item of a batch may take to end after its cancel, in ms. */
export function itemEndsInMs({ cleanUpMs = defaultTiming.cleanUpMs }: Partial<JobTiming> = {}): number {
  return cleanUpsOfItem * cleanUpMs + itemSlackMs;
}

const retryLeaseMs = 15_000;
/** If a sandbox has no auto-stop, it is checked as often as one with this auto-stop, in seconds. */
const unstoppedSeconds = 1_800;
const longestPromptPauseMs = 30_000;
const longestClaimPauseMs = 240_000;

/** The wait before the next renewal of a lease, in ms. */
export function renewLeaseInMs({ renewLeaseEveryMs }: JobTiming, isRenewed: boolean): number {
  return isRenewed ? renewLeaseEveryMs : Math.min(retryLeaseMs, renewLeaseEveryMs);
}

/** The wait before a run of a batch renews the lease on its source, after the last renewal of an earlier run, in ms. */
export function renewEarlierLeaseInMs({ renewLeaseEveryMs }: JobTiming): number {
  return renewLeaseEveryMs / 2;
}

/**
 * The wait before the next renewal of an auto-stop, in ms: half of it, or an eighth if the service did not answer,
 * because the sandbox may otherwise stop just before the next renewal.
 */
export function renewAutoStopInMs(ttlSeconds: number | null, isAnswered: boolean): number {
  return ((ttlSeconds ?? unstoppedSeconds) * 1_000) / (isAnswered ? 2 : 8);
}

/** The wait before a prompt is sent again that a sandbox did not accept, in ms. @param tries number of refusals */
export function promptAgainInMs(tries: number): number {
  return Math.min(longestPromptPauseMs, 500 * 2 ** tries);
}

/** The wait before the next renewal of a claim, in ms. A claim lasts for 10 minutes. */
export function renewClaimInMs({ renewLeaseEveryMs }: JobTiming): number {
  return Math.min(longestClaimPauseMs, renewLeaseEveryMs);
}

/** With each lost event, the longest wait is divided by this number. */
const tightenedBy = 4;

/**
 * The wait before the next safety poll, after `polls` polls, in ms.
 * @param missed number of waits in a row that ended without an event. Default: 0
 */
export function safetyPollMs(timing: JobTiming, polls: number, missed = 0): number {
  const { safetyPollFirstMs, safetyPollGrowth, safetyPollMaxMs } = timing;
  const longestMs = Math.max(Math.min(safetyPollFirstMs, safetyPollMaxMs), safetyPollMaxMs / tightenedBy ** missed);
  return Math.min(longestMs, safetyPollFirstMs * safetyPollGrowth ** polls);
}

/**
 * The wait before a job reads a sandbox whose prompt the follower of prompts follows, in ms: a quarter of the longest, then
 * doubled.
 * @param polls number of earlier reads
 */
export function promptPollMs({ promptPollMaxMs }: JobTiming, polls: number): number {
  return Math.min(promptPollMaxMs, (promptPollMaxMs / 4) * 2 ** polls);
}

/**
 * The pauses between attempts of a refused call, by the meaning of the refusal. They double from the first to the
 * longest.
 */
const refusalPauses: Readonly<Record<string, { firstMs: number; longestMs: number; retriesAtMost?: number }>> = {
  wait_out: { firstMs: 1_000, longestMs: 15_000 },
  few_tries: { firstMs: 2_000, longestMs: 30_000, retriesAtMost: 4 },
  throttled_shortly: { firstMs: 1_000, longestMs: 60_000 },
  throttled_for_long: { firstMs: 60_000, longestMs: 900_000 },
  unavailable: { firstMs: 2_000, longestMs: 120_000 },
  blocked: { firstMs: 15_000, longestMs: 300_000 },
  unreadable: { firstMs: 2_000, longestMs: 32_000, retriesAtMost: 5 },
};

/**
 * The wait before a refused call is retried, in ms; undefined if it must not be retried.
 * @param tries number of earlier refusals
 */
export function refusedCallDelayMs(
  refusal: { readonly meaning: string; readonly retryAfterMs: number | null },
  tries: number,
): number | undefined {
  const pause = refusalPauses[refusal.meaning];
  if (!pause || tries >= (pause.retriesAtMost ?? Number.POSITIVE_INFINITY)) return undefined;
  return Math.max(refusal.retryAfterMs ?? 0, Math.min(pause.longestMs, pause.firstMs * 2 ** tries));
}
