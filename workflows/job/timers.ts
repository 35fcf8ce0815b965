/** What a job does by the clock: renews its lease and the auto-stop of its sandbox, and ends at its deadline. */
import { condition, isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import { ownerWorkflowId } from '../../src/contract/addresses.js';
import { effects, reads } from '../shared/proxies.js';
import { renewLeaseInMs } from '../shared/timing.js';
import { renewLease } from '../watch/lease.js';
import type { JobState } from './state.js';

/** Renews what expires while the job works, and calls `onDeadline` at the deadline, whatever a renewal waits for. */
export async function startTimers(run: JobState, onDeadline: () => void): Promise<void> {
  await Promise.allSettled([untilDeadline(run).then(onDeadline), renewWhatExpires(run)]);
}

async function untilDeadline(run: JobState): Promise<void> {
  for (;;) {
    if (!Number.isFinite(run.deadlineAtMs)) await condition(() => Number.isFinite(run.deadlineAtMs));
    const { deadlineAtMs } = run;
    const leftMs = deadlineAtMs - Date.now();
    if (leftMs <= 0) return;
    // An item whose fork became `cancelled` has the deadline of its next one.
    await condition(() => deadlineAtMs !== run.deadlineAtMs, leftMs, { summary: 'deadline' });
  }
}

async function renewWhatExpires(run: JobState): Promise<void> {
  const ttlEveryMs = (run.input.ttlSeconds * 1_000) / 2;
  let ttlDueAtMs = Date.now() + ttlEveryMs;
  // A run that goes on from an earlier one does not know when that one has renewed it.
  let leaseDueAtMs = run.watched ? Date.now() : Number.POSITIVE_INFINITY;
  for (;;) {
    const { watched } = run;
    const leftMs = Math.min(ttlDueAtMs, leaseDueAtMs) - Date.now();
    // A sandbox may be leased meanwhile.
    const isOther = () => watched !== run.watched;
    if (leftMs > 0) await condition(isOther, leftMs, { summary: 'renewal of lease and auto-stop' });
    if (run.watched && !watched) leaseDueAtMs = Date.now() + renewLeaseInMs(run.timing, true);
    if (isOther()) continue;
    // Each for itself: a refusal of one is no reason to leave out the other.
    if (Date.now() >= leaseDueAtMs) {
      const lease = { use: 'work', lastsMs: run.timing.leaseLastsMs } as const;
      const isRenewed = run.sandbox === null || (await renewLease(run.sandbox.id, lease));
      leaseDueAtMs = Date.now() + renewLeaseInMs(run.timing, isRenewed);
    }
    if (Date.now() >= ttlDueAtMs) {
      await withoutEnding(() => renewTtl(run));
      ttlDueAtMs = Date.now() + ttlEveryMs;
      if (isRenamed(run) && patched('a renamed sandbox is leased')) {
        run.watched = true;
        leaseDueAtMs = Date.now();
      }
    }
  }
}

/** The next renewal is not far, so one that fails ends nothing. */
async function withoutEnding(renew: () => Promise<void>): Promise<void> {
  try {
    await renew();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/** Keeps the sandbox from stopping by itself. A sandbox of somebody else keeps the auto-stop that it has at this moment. */
async function renewTtl(run: JobState): Promise<void> {
  const { sandbox, input } = run;
  if (!sandbox) return;
  const ttlSeconds = input.source.kind === 'existing' ? await ttlNow(run, sandbox.id) : input.ttlSeconds;
  if (ttlSeconds === null) return;
  const options = { scheduleToCloseTimeout: '1 minute', summary: 'renew auto-stop' } as const;
  const { value, calls } = await effects.updateSandbox.executeWithOptions(options, [sandbox.id, { ttlSeconds }]);
  run.apiCalls += calls;
  if (value !== null && run.sandbox?.id === value.id) run.sandbox = { ...run.sandbox, name: value.name };
}

/** Somebody has given the job's own sandbox another name: neither events nor cleanups find the job by it any more. */
function isRenamed({ sandbox, watched, input }: JobState): boolean {
  if (watched || sandbox === null || input.source.kind === 'existing') return false;
  return ownerWorkflowId(sandbox.name ?? '') !== workflowInfo().workflowId;
}

async function ttlNow(run: JobState, sandboxId: string): Promise<number | null> {
  const { value, calls } = await reads.getSandbox(sandboxId);
  run.apiCalls += calls;
  return value?.ttlSeconds ?? null;
}
