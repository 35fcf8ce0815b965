/** Computes the length of waits. Pure. */
import type { JobTiming } from '../job/types.js';

export const defaultTiming: JobTiming = {
  safetyPollFirstMs: 5_000,
  safetyPollGrowth: 2,
  safetyPollMaxMs: 300_000,
  errorGraceMs: 180_000,
  cleanUpMs: 900_000,
  readLagMs: 90_000,
  leaseLastsMs: 1_800_000,
  renewLeaseEveryMs: 600_000,
};

const renewLeaseAgainMs = 15_000;

/** The wait before the next renewal of a lease, in ms. */
export function renewLeaseInMs({ renewLeaseEveryMs }: JobTiming, isRenewed: boolean): number {
  return isRenewed ? renewLeaseEveryMs : Math.min(renewLeaseAgainMs, renewLeaseEveryMs);
}

/** The wait before the next safety poll, after `polls` polls, in ms. */
export function safetyPollMs(timing: JobTiming, polls: number): number {
  const { safetyPollFirstMs, safetyPollGrowth, safetyPollMaxMs } = timing;
  return Math.min(safetyPollMaxMs, safetyPollFirstMs * safetyPollGrowth ** polls);
}

const grow = (firstMs: number, maxMs: number, tries: number) => Math.min(maxMs, firstMs * 2 ** tries);

/**
 * The wait before a refused call is retried, in ms; undefined if it must not be retried.
 * @param tries number of earlier refusals
 */
export function refusedCallDelayMs(
  refusal: { readonly meaning: string; readonly retryAfterMs: number | null },
  tries: number,
): number | undefined {
  const asked = refusal.retryAfterMs ?? 0;
  switch (refusal.meaning) {
    case 'wait_out':
      return Math.max(asked, grow(1_000, 15_000, tries));
    case 'few_tries':
      return tries < 4 ? Math.max(asked, grow(2_000, 30_000, tries)) : undefined;
    case 'throttled_shortly':
      return Math.max(asked, grow(1_000, 60_000, tries));
    case 'throttled_for_long':
      return Math.max(asked, grow(60_000, 900_000, tries));
    case 'unavailable':
      return Math.max(asked, grow(2_000, 120_000, tries));
    case 'blocked':
      return Math.max(asked, grow(15_000, 300_000, tries));
    default:
      return undefined;
  }
}
