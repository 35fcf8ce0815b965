/**
 * Runs a batch: many items, each prompted in its own fork of one source.
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
import { hasLongHistory } from '../shared/continue-as-new.js';
import { toJobTermination } from '../shared/job-termination.js';
import { continueWithStart } from '../shared/start-memo.js';
import { isBudgetSpent } from './batch/allocate.js';
import { BatchState } from './batch/batch-state.js';
import { budgetHolderOf } from './batch/chunk-record.js';
import { dispatchGrants } from './batch/dispatch-grants.js';
import { endReasonOf } from './batch/end-decision.js';
import { finish } from './batch/finish.js';
import { handleBatchMessages } from './batch/handlers.js';
import { resumeFromStore } from './batch/resume.js';
import { startBatchTimers } from './batch/timers.js';
import { changeSinceEarlier, obtainSource } from './source/obtain.js';

/** Runs a batch from a `FanoutInput` to a `FanoutResult`. Its items arrive by Update. */
export function forkFanout(input: BatchInput): Promise<FanoutResult> {
  return runForkFanout(input);
}

async function runForkFanout(input: BatchInput): Promise<FanoutResult> {
  const batch = new BatchState(input);
  handleBatchMessages(batch);
  CancellationScope.current().cancelRequested.catch(() => batch.end('cancelled'));
  return CancellationScope.nonCancellable(async () => {
    if (input.resume && !batch.isSurveyed) await resumeFromStore(batch, input.resume);
    const clocks = startBatchTimers(batch);
    const sourcing = startSourcing(batch);
    for (;;) {
      decide(batch);
      if (batch.carried.ending) sourcing.cancel();
      dispatchGrants(batch);
      if (isOver(batch)) break;
      if (hasLongHistory(batch.pace.maxHistoryEvents) || hasManyMessages(batch)) {
        batch.isPausing = true;
        sourcing.cancel();
        clocks.cancel();
        await condition(() => allHandlersFinished() && batch.isQuiet);
        return continueWithStart<typeof forkFanout>(new Date(batch.carried.startedAtMs).toISOString(), batch.carry());
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

/** Obtains the source in parallel, because items arrive in the meantime. */
function startSourcing(batch: BatchState): CancellationScope {
  const scope = new CancellationScope();
  const isDone = batch.carried.seal !== null && batch.records.every(({ state }) => state === 'ended');
  if (batch.carried.source !== null || batch.carried.ending !== null || isDone) return scope;
  batch.inBackground(async () => {
    try {
      const source = await scope.run(() => obtainSource(batch));
      batch.carried.sourceChange ??= changeSinceEarlier(batch.carried.startedFrom, source);
      batch.carried.source = source;
      batch.enter('running');
    } catch (error) {
      if (scope.consideredCancelled) return;
      batch.end('source_failed', toJobTermination(error).jobError);
    }
  });
  return scope;
}

function decide(batch: BatchState): void {
  const { policy } = batch.input;
  const { sourceChange } = batch.carried;
  if (sourceChange && batch.isDrained) batch.end('source_failed', sourceChange);
  const reason = endReasonOf(batch.counts, policy);
  if (reason) batch.end(reason);
  if (isBudgetSpent(policy.budgetSeconds, batch.records.map(budgetHolderOf))) batch.end('budget_spent');
}

function isOver(batch: BatchState): boolean {
  if (batch.isGivenUp) return true;
  const { records } = batch;
  const { ending } = batch.carried;
  // A chunk that was never started has nothing to end.
  const isDone = records.every(
    ({ state, attempt }) => state === 'ended' || (ending && state === 'waiting' && attempt === 0),
  );
  return isDone && batch.isQuiet && batch.arriving.size === 0 && !batch.takesItems;
}

function hasManyMessages({ messages, pace }: BatchState): boolean {
  return messages >= pace.maxMessages;
}
