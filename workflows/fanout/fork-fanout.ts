/**
 * Runs a batch: many items, each prompted in its own fork of one source, or of one of several.
 *
 *     prepare ─► check source ─► share out ⇄ chunks report, items come ─► end source ─► results
 *        └──────────┴── cancel, deadline, budget, first failure, enough ──┘
 *
 * The batch keeps only counts and passes its items to chunks, which run them. So its size does not depend on the number
 * of items. When its history is long, it continues as new. The chunks do not notice this, because they signal its
 * workflow id.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { BatchInput } from '../../src/protocol/fanout/batch-parts.js';
import type { FanoutResult } from '../../src/protocol/fanout/fanout-result.js';
import { mustMoveOn, toNewVersion } from '../shared/continue-as-new.js';
import { continueWithStart } from '../shared/start-memo.js';
import { defaultTiming } from '../shared/wait-intervals.js';
import { isBudgetSpent } from './batch/allocate.js';
import { BatchState } from './batch/batch-state.js';
import { budgetHolderOf } from './batch/chunk-record.js';
import { dispatchGrants } from './batch/dispatch-grants.js';
import { endReasonOf } from './batch/end-decision.js';
import { finish } from './batch/finish.js';
import { handleBatchMessages } from './batch/handlers.js';
import { holdIfDue } from './batch/hold.js';
import { cancelChunks, resumeFromStore } from './batch/resume.js';
import { startBatchTimers } from './batch/timers.js';
import { hasFailed } from './source/source-slot.js';
import { obtainMain, stopObtaining, tendSources } from './source/tend-sources.js';

/** How long a run that must end waits for the result store. Items that are not stored by then are sent again. */
const storedWithin = '10 seconds';

/** Runs a batch from a `FanoutInput` to a `FanoutResult`. Its items arrive by Update. */
export function forkFanout(input: BatchInput): Promise<FanoutResult> {
  return runForkFanout(input);
}

async function runForkFanout(input: BatchInput): Promise<FanoutResult> {
  const batch = new BatchState(input);
  // Holds what may wait for the result store. A cancel of the batch does not reach it.
  const untilPause = new CancellationScope({
    cancellable: true,
    parent: new CancellationScope({ cancellable: false }),
  });
  handleBatchMessages(batch, untilPause);
  CancellationScope.current().cancelRequested.catch(() => batch.end('cancelled'));
  return CancellationScope.nonCancellable(async () => {
    if (!(await survey(batch, untilPause))) {
      return batch.carried.ending ? endUnsurveyed(batch, untilPause) : goOnAsNew(batch, untilPause);
    }
    const clocks = startBatchTimers(batch);
    obtainMain(batch);
    for (;;) {
      decide(batch);
      tendSources(batch, clocks);
      if (batch.carried.ending) stopObtaining(batch);
      dispatchGrants(batch);
      if (isOver(batch)) break;
      if (isFull(batch)) {
        stopObtaining(batch);
        clocks.cancel();
        return goOnAsNew(batch, untilPause);
      }
      const seen = batch.changes;
      await condition(() => batch.changes !== seen || hasManyMessages(batch));
    }
    clocks.cancel();
    const result = await finish(batch);
    await condition(allHandlersFinished);
    return result;
  });
}

/**
 * Reads what an earlier execution left.
 * @returns false if the run has grown too long in the meantime, or the batch must end without knowing it
 */
async function survey(batch: BatchState, untilPause: CancellationScope): Promise<boolean> {
  const { resume } = batch.input;
  if (!resume || batch.carried.isSurveyed) return true;
  const reading = untilPause.run(() => resumeFromStore(batch, resume));
  await Promise.race([reading, untilTooLong(batch)]);
  return batch.carried.isSurveyed;
}

/** A batch that is cancelled still reads what it must end, within its clean-up time. */
async function untilTooLong(batch: BatchState): Promise<void> {
  const { carried, input } = batch;
  await condition(() => isFull(batch) || carried.ending !== null);
  if (carried.ending === null) return;
  const untilMs = carried.ending.atMs + (input.timing?.cleanUpMs ?? defaultTiming.cleanUpMs);
  const summary = 'until the batch ends without what the result store holds';
  // A run that must end must not go on as new either: the batch would take long to end.
  await condition(() => carried.isSurveyed || isFull(batch), Math.max(1, untilMs - Date.now()), { summary });
}

/** Ends a batch that does not know what an earlier execution left. Its chunks that run end their items themselves. */
async function endUnsurveyed(batch: BatchState, untilPause: CancellationScope): Promise<FanoutResult> {
  untilPause.cancel();
  batch.cancelledChunks = await cancelChunks(batch);
  const result = await finish(batch);
  await condition(allHandlersFinished);
  return result;
}

async function goOnAsNew(batch: BatchState, untilPause: CancellationScope): Promise<never> {
  const summary = 'until the result store has what has arrived';
  if (!allHandlersFinished()) await condition(allHandlersFinished, storedWithin, { summary });
  // The store may be away for hours, in which the run would grow past the limits of Temporal.
  untilPause.cancel();
  await condition(() => allHandlersFinished() && batch.isQuiet);
  const startedAt = new Date(batch.carried.startedAtMs).toISOString();
  return continueWithStart<typeof forkFanout>(startedAt, batch.carry(), toNewVersion);
}

function decide(batch: BatchState): void {
  const { policy } = batch.input;
  const { sourceChange } = batch.carried;
  const reason = endReasonOf(batch.judged, policy);
  // An item that must not start because the source has changed has not failed.
  if (reason && !(sourceChange && reason === 'failed_fast')) batch.end(reason);
  for (const slot of batch.slots) {
    if (slot.carried.sourceChange && batch.isDrained(slot)) batch.failSource(slot, slot.carried.sourceChange);
  }
  const { ownSlots, input } = batch;
  const isWithout = !input.source && ownSlots.length > 0 && ownSlots.every(hasFailed);
  if (isWithout && batch.carried.seal) batch.end('source_failed', batch.carried.sourceFailure);
  if (isBudgetSpent(policy.budgetSeconds, batch.records.map(budgetHolderOf))) batch.end('budget_spent');
  holdIfDue(batch);
}

function isOver(batch: BatchState): boolean {
  if (batch.isGivenUp) return true;
  const { ending } = batch.carried;
  const isDone = batch.records.every((record) => record.state === 'ended' || (ending && batch.hasNothing(record)));
  return isDone && batch.isQuiet && batch.arriving.size === 0 && !batch.takesItems;
}

function isFull(batch: BatchState): boolean {
  return mustMoveOn(batch.pace.maxHistoryEvents) || hasManyMessages(batch);
}

function hasManyMessages({ messages, pace }: BatchState): boolean {
  return messages >= pace.maxMessages;
}
