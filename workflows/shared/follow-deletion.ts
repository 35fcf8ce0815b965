/**
 * Follows a deletion to its end, for jobs and cleanups. The service has no event for a deletion (specification, "Event
 * types"), so this polls.
 */
import { sleep } from '@temporalio/workflow';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { reads } from './reads.js';
import { type Caller, retryRefusals } from './retry-refusals.js';
import { safetyPollMs } from './wait-intervals.js';

export interface DeletionSeen {
  /**
   * A status of the service; `gone` if the service does not know the deletion, and what it deletes no longer exists.
   */
  readonly status: string;
  /** Why the deletion failed; null if it did not. */
  readonly error: string | null;
}

interface DeletionToFollow {
  /** Null if the service returned no id. */
  readonly operationId: string | null;
  /** Reads whether what is deleted no longer exists. Called while the service does not know the deletion. */
  readonly isGone: () => Promise<boolean>;
  /** Called after each read of a deletion that has not ended. */
  readonly onPending?: (seen: DeletionSeen) => void;
}

const firstPauseMs = 1_000;

/** Waits until the deletion has ended. Safe to cancel and to repeat. */
export async function followDeletion(
  follower: Caller & { readonly timing: JobTiming },
  { operationId, isGone, onPending }: DeletionToFollow,
): Promise<DeletionSeen> {
  const { timing } = follower;
  const read = async () =>
    operationId === null ? null : retryRefusals(follower, 'read', () => reads.getDeletionOperation(operationId));
  for (let polls = 0; ; polls += 1) {
    const operation = await read();
    if (operation) {
      const seen = { status: operation.status, error: operation.error ?? null };
      if (seen.status === 'completed' || seen.status === 'failed') return seen;
      onPending?.(seen);
    } else if (await isGone()) return { status: 'gone', error: null };
    await sleep(Math.min(safetyPollMs(timing, polls), firstPauseMs * 2 ** polls), { summary: 'until deleted' });
  }
}
