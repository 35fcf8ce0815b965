/** Ends a batch: ends its source, stores its results and sends the notification. */
import { failureClassOf } from '../../../src/protocol/failure-class.js';
import type { FanoutOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutResult } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { shortfallOf } from '../../../src/protocol/shortfall.js';
import { bulk } from '../../shared/activity-options.js';
import { apiCalls } from '../../shared/count-api-calls.js';
import { jobError, toJobTermination } from '../../shared/job-termination.js';
import { countEnd } from '../../shared/metrics.js';
import { recordOutcome } from '../../shared/outcome-memo.js';
import { showAttributes } from '../../shared/search-attributes.js';
import { sendNotification } from '../../shared/send-notification.js';
import { endSource } from '../source/end.js';
import { isHeld } from '../source/source-slot.js';
import type { BatchState } from './batch-state.js';
import { endUnstarted } from './chunk-record.js';
import { outcomeOf } from './end-decision.js';

export async function finish(batch: BatchState): Promise<FanoutResult> {
  for (const record of batch.records) if (record.state === 'waiting') endUnstarted(record);
  batch.enter('ending');
  const ends = await Promise.all(batch.slots.filter(isHeld).map((slot) => slot.ending ?? endSource(batch, slot)));
  const { ending, seal, unreadable, sourceFailure, sourceLeft } = batch.carried;
  const outcome = outcomeOf(ending?.reason ?? null, batch.judged, batch.input.policy, seal !== null);
  batch.outcome = outcome;
  const ofSource = (outcome === 'completed' ? null : sourceFailure) ?? sourceLeft ?? ends.find((one) => one !== null);
  batch.error = ending?.error ?? errorOf(batch, outcome) ?? unreadable ?? ofSource ?? null;
  batch.enter('ended');
  const result = await store(batch, outcome);
  batch.error = result.error;
  batch.shortfall = result.shortfall;
  const { completed, items } = result.counts;
  recordOutcome(result, { counts: { completed, items }, failureClass: failureClassOf(result) });
  showAttributes({ outcome, blocked: null });
  countEnd('batch', result);
  const { batchId, notify } = batch.input;
  const teller = { input: { jobId: batchId, notify }, sandbox: null };
  await sendNotification(teller, 'ended', outcome, endedMessage(result));
  return result;
}

async function store(batch: BatchState, outcome: FanoutOutcome): Promise<FanoutResult> {
  const reports = batch.records.flatMap(({ report, before }) => (report ? [before, report] : [before]));
  const left = Object.values(batch.carried.left);
  const leftCount = reports.reduce((sum, { leftCount: count }) => sum + count, batch.carried.ownLeftCount);
  const result = {
    ...batch.progress(),
    outcome,
    apiCalls: reports.reduce((sum, report) => sum + report.apiCalls, apiCalls()),
    durationMs: Date.now() - batch.carried.startedAtMs,
    left,
    leftMore: Math.max(0, leftCount - left.length),
    leftSandboxIds: [...new Set(left.flatMap(({ kind, sandboxId }) => (kind === 'sandbox' && sandboxId) || []))],
  };
  const lacks = { outcome, leftBehind: leftCount, missingFiles: 0, missingAnswers: 0 };
  const shortfall = shortfallOf({ ...lacks, error: result.error });
  if (!batch.carried.isSurveyed) return { ...result, shortfall, resultsRef: null };
  try {
    return { ...result, ...(await bulk.assembleFanout({ place: batch.place, result })) };
  } catch (failure) {
    const why = toJobTermination(failure).jobError.message.replace(/\.$/, '');
    const error = jobError(
      'results_not_assembled',
      `results.jsonl could not be stored: ${why}. The results of the items are stored separately.`,
    );
    const known = result.error ?? error;
    return { ...result, error: known, shortfall: shortfallOf({ ...lacks, error: known }), resultsRef: null };
  }
}

function errorOf(batch: BatchState, outcome: FanoutOutcome): JobError | null {
  const { policy } = batch.input;
  if (!batch.carried.isSurveyed) {
    const { cancelledChunks } = batch;
    const chunks = cancelledChunks === 1 ? '1 chunk' : `${cancelledChunks} chunks`;
    const ends = cancelledChunks === 0 ? '' : ` It cancelled ${chunks} of that execution.`;
    return jobError(
      'clean_up_unfinished',
      `The batch ended before it could read what an earlier execution left, so forks may still run.${ends} Resume the batch to end them.`,
    );
  }
  const open = batch.records.filter(({ state }) => state === 'open').length;
  if (open > 0) {
    return jobError(
      'clean_up_unfinished',
      `${open} chunks did not end in time, and their forks may still run. Resume the batch to end them.`,
    );
  }
  const messages = {
    cancelled: 'The batch was cancelled',
    deadline_exceeded: `The batch did not finish within ${Math.round(policy.deadlineMs / 1_000)} seconds`,
    budget_spent: `The rest of the budget of ${policy.budgetSeconds} machine-seconds is too small for another item`,
    failed_fast: 'An item failed, and the batch ends at the first failure',
  };
  if (!(outcome in messages)) return null;
  const code = outcome as keyof typeof messages;
  return jobError(code, messages[code]);
}

/** What a batch tells at its end: one message for all of its items. */
export function endedMessage({ counts, error, budget, left, leftMore }: FanoutResult): string {
  const { items, completed, byOutcome } = counts;
  const others = Object.entries(byOutcome).filter(([outcome, count]) => outcome !== 'completed' && count > 0);
  const parts = [`${completed} of ${items} completed`, ...others.map(([outcome, count]) => `${count} ${outcome}`)];
  const minutes = Math.round(budget.spentSeconds / 60);
  const cost = minutes > 0 ? [`It used ${minutes} machine-minutes`] : [];
  const leftCount = left.length + leftMore;
  const leaves = leftCount > 0 ? [`${leftCount} of what it started may still run and cost machine time`] : [];
  return [parts.join(', '), ...(error ? [error.message.replace(/\.$/, '')] : []), ...cost, ...leaves].join('. ');
}
