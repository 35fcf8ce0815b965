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
import { obtainSource } from './source/obtain.js';

/** Runs a batch from a `FanoutInput` to a `FanoutResult`. Its items arrive by Update. */
export function forkFanout(input: BatchInput): Promise<FanoutResult> {
  return runForkFanout(input);
}

async function runForkFanout(input: BatchInput): Promise<FanoutResult> {
  const run = new BatchState(input);
  handleBatchMessages(run);
  CancellationScope.current().cancelRequested.catch(() => run.end('cancelled'));
  return CancellationScope.nonCancellable(async () => {
    if (input.resume && !run.isSurveyed) await resumeFromStore(run, input.resume);
    const clocks = startBatchTimers(run);
    const sourcing = startSourcing(run);
    for (;;) {
      decide(run);
      if (run.carried.ending) sourcing.cancel();
      dispatchGrants(run);
      if (isOver(run)) break;
      if (hasLongHistory(run.pace.maxHistoryEvents) || hasManyMessages(run)) {
        run.isPausing = true;
        sourcing.cancel();
        clocks.cancel();
        await condition(() => allHandlersFinished() && run.isQuiet);
        return continueWithStart<typeof forkFanout>(new Date(run.carried.startedAtMs).toISOString(), run.carry());
      }
      const seen = run.changes;
      await condition(() => run.changes !== seen || hasManyMessages(run));
    }
    clocks.cancel();
    const result = await finish(run);
    await condition(allHandlersFinished);
    return result;
  });
}

/** Obtains the source in parallel, because items arrive in the meantime. */
function startSourcing(run: BatchState): CancellationScope {
  const scope = new CancellationScope();
  const isDone = run.carried.seal !== null && run.records.every(({ state }) => state === 'ended');
  if (run.carried.source !== null || run.carried.ending !== null || isDone) return scope;
  run.inBackground(async () => {
    try {
      run.carried.source = await scope.run(() => obtainSource(run));
      run.enter('running');
    } catch (error) {
      if (scope.consideredCancelled) return;
      run.end('source_failed', toJobTermination(error).jobError);
    }
  });
  return scope;
}

function decide(run: BatchState): void {
  const { policy } = run.input;
  const reason = endReasonOf(run.counts, policy);
  if (reason) run.end(reason);
  if (isBudgetSpent(policy.budgetSeconds, run.records.map(budgetHolderOf))) run.end('budget_spent');
}

function isOver(run: BatchState): boolean {
  if (run.isGivenUp) return true;
  const { records } = run;
  const { ending } = run.carried;
  // A chunk that was never started has nothing to end.
  const isDone = records.every(
    ({ state, attempt }) => state === 'ended' || (ending && state === 'waiting' && attempt === 0),
  );
  return isDone && run.isQuiet && run.arriving.size === 0 && !run.takesItems;
}

function hasManyMessages({ messages, pace }: BatchState): boolean {
  return messages >= pace.maxMessages;
}
