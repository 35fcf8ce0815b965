/** The timers of a job: they renew its lease and the auto-stop of its sandbox, and end it at its deadline. */
import { condition, patched, workflowInfo } from '@temporalio/workflow';
import { ownerWorkflowId } from '../../src/addresses/addresses.js';
import { observeWake } from '../shared/metrics.js';
import { conditionUntil } from '../shared/shared-timer.js';
import { renewAutoStopInMs, renewLeaseInMs } from '../shared/wait-intervals.js';
import { renewLease } from '../watch/hold-lease.js';
import type { JobState } from './job-state.js';
import { hasNothingToRenew, looksLessPatch, renewAutoStop } from './renew-auto-stop.js';
import { leaseOf } from './sandbox/watch-sandbox.js';

/** Renews what expires while the job runs, and calls `onDeadline` at the deadline, even if a renewal is waiting. */
export async function startTimers(job: JobState, onDeadline: () => void): Promise<void> {
  // In this order, one timer does for both: renewals mostly come first.
  await Promise.allSettled([renewWhatExpires(job), untilDeadline(job).then(onDeadline)]);
}

async function untilDeadline(job: JobState): Promise<void> {
  for (;;) {
    if (job.carried.deadlineAtMs === null) await condition(() => job.carried.deadlineAtMs !== null);
    const { deadlineAtMs } = job.carried;
    if (deadlineAtMs === null) continue;
    // If the fork of an item becomes `cancelled`, the deadline starts again with the next fork.
    const isOther = () => deadlineAtMs !== job.carried.deadlineAtMs;
    if (await conditionUntil(isOther, deadlineAtMs, 'deadline')) continue;
    return observeWake('deadline', Date.now() - deadlineAtMs);
  }
}

async function renewWhatExpires(job: JobState): Promise<void> {
  const { ttlSeconds } = job.input;
  let ttlDueAtMs = Date.now() + renewAutoStopInMs(ttlSeconds, true);
  // If this run continues an earlier one, it does not know when that run renewed the lease.
  let leaseDueAtMs = job.carried.watched ? Date.now() : Number.POSITIVE_INFINITY;
  for (;;) {
    const { watched } = job.carried;
    // The sandbox may be leased in the meantime.
    const isOther = () => watched !== job.carried.watched;
    await conditionUntil(isOther, Math.min(ttlDueAtMs, leaseDueAtMs), 'renewal of lease and auto-stop');
    if (job.carried.watched && !watched) leaseDueAtMs = Date.now() + renewLeaseInMs(job.timing, true);
    if (isOther()) continue;
    // The two renewals are separate, so that a refusal of one does not affect the other.
    if (Date.now() >= leaseDueAtMs) {
      const isRenewed = job.sandbox === null || (await renewLease(job.sandbox.id, leaseOf(job)));
      leaseDueAtMs = Date.now() + renewLeaseInMs(job.timing, isRenewed);
    }
    if (Date.now() >= ttlDueAtMs) {
      const isAnswered = await renewAutoStop(job);
      const isNeverDue = hasNothingToRenew(job) && patched(looksLessPatch);
      ttlDueAtMs = isNeverDue ? Number.POSITIVE_INFINITY : Date.now() + renewAutoStopInMs(ttlSeconds, isAnswered);
      if (isRenamed(job)) {
        job.carried.watched = true;
        leaseDueAtMs = Date.now();
      }
    }
  }
}

/** True if somebody renamed the job's own sandbox: events and cleanups no longer find the job by that name. */
function isRenamed({ sandbox, input, carried: { watched } }: JobState): boolean {
  if (watched || sandbox === null || input.source.kind === 'existing') return false;
  return ownerWorkflowId(sandbox.name ?? '') !== workflowInfo().workflowId;
}
