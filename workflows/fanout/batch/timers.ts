/** The periodic tasks of a batch. Each has its own timer, so events of items do not create new timers. */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import type { BatchClock } from '../../../src/protocol/fanout/batch-parts.js';
import { lookups } from '../../shared/activity-options.js';
import { defaultTiming, itemEndsInMs, renewEarlierLeaseInMs, renewLeaseInMs } from '../../shared/wait-intervals.js';
import { renewLease } from '../../watch/hold-lease.js';
import type { SourceSlot } from '../source/source-slot.js';
import type { BatchState } from './batch-state.js';
import { startAgain } from './chunk-record.js';

const describedAtOnce = 100;
/** A live submitter sends its next chunk within this time. */
const submitterPauseMs = 10_000;

/** If a check finds that all silent chunks run, the interval to the next check grows, up to this factor. */
const slowestChecks = 5;

/** Starts all timers. @returns the scope that stops them */
export function startBatchTimers(batch: BatchState): CancellationScope {
  const clocks = new CancellationScope();
  for (const clock of [deadline, endOfEnding, lateItems, checks, recovery, mainLease]) {
    clocks.run(() => clock(batch)).catch(() => undefined);
  }
  return clocks;
}

async function deadline(batch: BatchState): Promise<void> {
  await sleep(Math.max(1, batch.deadlineAtMs - Date.now()), { summary: 'deadline of the batch' });
  batch.end('deadline_exceeded');
}

async function endOfEnding(batch: BatchState): Promise<void> {
  await condition(() => batch.carried.ending !== null);
  const endsAtMs = (batch.carried.ending?.atMs ?? Date.now()) + itemEndsInMs(batch.input.timing);
  await sleep(Math.max(1, endsAtMs - Date.now()), { summary: 'until the batch ends without open chunks' });
  batch.isGivenUp = true;
  batch.noteChange();
}

async function lateItems(batch: BatchState): Promise<void> {
  await condition(() => batch.carried.ending !== null);
  for (;;) {
    const leftMs = Math.max(batch.carried.ending?.atMs ?? 0, batch.carried.arrivedAtMs) + submitterPauseMs - Date.now();
    if (!batch.takesItems || leftMs <= 0) break;
    await sleep(leftMs, { summary: 'until the submitter is presumed gone' });
  }
  batch.isSubmitterGone = true;
  batch.noteChange();
}

/** Checks chunks that send no reports. A terminated chunk starts again from the result store. */
async function checks(batch: BatchState): Promise<void> {
  for (let quiet = 0; ; ) {
    await condition(() => batch.records.some(({ state }) => state === 'open'));
    const everyMs = batch.pace.checkChunksEveryMs * Math.min(slowestChecks, 1 + quiet);
    await untilDue(batch, 'checks', { everyMs, summary: 'until chunks that do not report are checked' });
    const isQuiet = await uninterrupted(batch, () => checkChunks(batch));
    quiet = isQuiet ? quiet + 1 : 0;
  }
}

/** Runs work that cannot be cancelled; the run continues as new only after it. @returns undefined if it failed */
function uninterrupted<T>(batch: BatchState, work: () => Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    batch.inBackground(async () => {
      try {
        resolve(await CancellationScope.nonCancellable(work));
      } catch {
        resolve(undefined);
      }
    });
  });
}

/**
 * Waits until a periodic task is due. The interval counts from the last due time, even if that was in an earlier run,
 * because a run may be shorter than the interval.
 */
async function untilDue(
  batch: BatchState,
  clock: BatchClock,
  { everyMs, summary }: { readonly everyMs: number; readonly summary: string },
): Promise<void> {
  const { clockedAtMs } = batch.carried;
  const sinceMs = clockedAtMs[clock] ?? Date.now();
  clockedAtMs[clock] = sinceMs;
  await sleep(Math.max(1, sinceMs + everyMs - Date.now()), { summary });
  clockedAtMs[clock] = Date.now();
}

/** @returns true if one check covered all silent chunks, and all of them run */
async function checkChunks(batch: BatchState): Promise<boolean> {
  const sinceMs = Date.now() - batch.pace.checkChunksEveryMs;
  const silent = batch.records.filter(({ state, reportedAtMs }) => state === 'open' && reportedAtMs <= sinceMs);
  const checked = silent.slice(0, describedAtOnce);
  if (checked.length === 0) return false;
  const reports = checked.map(({ report }) => report);
  const statuses = await lookups.describeWorkflows(checked.map(({ chunk }) => batch.places.chunkWorkflow(chunk)));
  for (const [at, record] of checked.entries()) {
    if (statuses[at] === 'RUNNING') record.reportedAtMs = Date.now();
    else if (record.state === 'open' && record.report === reports[at]) {
      startAgain(record);
    }
  }
  return checked.length === silent.length && statuses.every((status) => status === 'RUNNING');
}

async function recovery(batch: BatchState): Promise<void> {
  for (;;) {
    const { carried } = batch;
    const isThrottled = () => carried.throttle.limit < batch.input.policy.concurrency;
    await condition(() => isThrottled() || carried.throttle.pausedUntilMs !== null);
    const pauseMs = (carried.throttle.pausedUntilMs ?? 0) - Date.now();
    // During a pause, which may last for hours, there is nothing to do.
    const everyMs = Math.max(batch.pace.recoverEveryMs, pauseMs);
    await untilDue(batch, 'recovery', { everyMs, summary: 'until more items may run' });
    batch.recover();
  }
}

async function mainLease(batch: BatchState): Promise<void> {
  await condition(() => batch.carried.source !== null);
  await renewLeases(batch, batch.main);
}

/**
 * Renews the lease on a source that is ready. A busy batch may continue as new before this long timer fires. So a new
 * run renews at once if the last renewal was more than half an interval ago.
 */
export function renewLeases(batch: BatchState, slot: SourceSlot): Promise<void> {
  slot.leasing = new CancellationScope();
  return slot.leasing.run(() => keepRenewing(batch, slot));
}

async function keepRenewing(batch: BatchState, slot: SourceSlot): Promise<void> {
  const { carried } = slot;
  const sandboxId = carried.leasedSandboxId;
  if (sandboxId === null) return;
  const timing = { ...defaultTiming, ...batch.input.timing };
  let dueAtMs = (carried.leasedAtMs ?? 0) + renewEarlierLeaseInMs(timing);
  for (;;) {
    const leftMs = dueAtMs - Date.now();
    if (leftMs > 0) await sleep(leftMs, { summary: 'renewal of the lease on the source' });
    const requestedAtMs = Date.now();
    slot.isRenewing = true;
    const isRenewed = await uninterrupted(batch, () =>
      renewLease(sandboxId, { use: 'fork', lastsMs: timing.leaseLastsMs }),
    );
    slot.isRenewing = false;
    if (isRenewed) carried.leasedAtMs = requestedAtMs;
    dueAtMs = Date.now() + renewLeaseInMs(timing, isRenewed === true);
  }
}
