/** Ends a batch: ends its source, stores its results and sends the notification. */
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { failureClassOf } from '../../../src/protocol/failure-class.js';
import type { FanoutOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutResult } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { shortfallOf } from '../../../src/protocol/shortfall.js';
import { deleteSandbox } from '../../job/end/delete-sandbox.js';
import { handOverStop, mustHandOver } from '../../job/end/hand-over-stop.js';
import { stopSandbox } from '../../job/end/stop-sandbox.js';
import { problemWithin } from '../../job/end/within-time.js';
import type { JobState } from '../../job/job-state.js';
import { bulk } from '../../shared/activity-options.js';
import { apiCalls } from '../../shared/count-api-calls.js';
import { jobError, toJobTermination } from '../../shared/job-termination.js';
import { countEnd } from '../../shared/metrics.js';
import { recordOutcome } from '../../shared/outcome-memo.js';
import { showAttributes } from '../../shared/search-attributes.js';
import { sendNotification } from '../../shared/send-notification.js';
import { defaultTiming } from '../../shared/wait-intervals.js';
import { releaseLease } from '../../watch/hold-lease.js';
import { readLasting, sourceJob } from '../source/caller.js';
import type { BatchState } from './batch-state.js';
import { outcomeOf } from './end-decision.js';

const handOverWithinMs = 60_000;

export async function finish(batch: BatchState): Promise<FanoutResult> {
  batch.enter('ending');
  const sourceError = await endSource(batch);
  const { ending, seal, unreadable } = batch.carried;
  const outcome = outcomeOf(ending?.reason ?? null, batch.judged, batch.input.policy, seal !== null);
  batch.outcome = outcome;
  batch.error = ending?.error ?? errorOf(batch, outcome) ?? unreadable ?? sourceError;
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

/**
 * Stops or deletes the prepared sandbox as requested, and releases the lease, within a time limit. Returns the error if
 * the sandbox did not end, or null.
 */
async function endSource(batch: BatchState): Promise<JobError | null> {
  const { source } = batch.input;
  const { preparedSandboxId: sandboxId, leasedSandboxId } = batch.carried;
  if (leasedSandboxId !== null) await releaseLease(leasedSandboxId);
  if (source.kind !== 'prepare' || sandboxId === null) return null;
  const job = sourceJob(batch, sandboxId);
  batch.sourceJob = job;
  const end = async () => {
    const sandbox = await readLasting(job, sandboxId);
    if (sandbox === null) return;
    job.carried.previousStopId = sandbox.stop?.id ?? null;
    if (source.end === 'delete') await deleteSandbox(job, sandboxId);
    else if (mayRun(sandbox)) await stopSandbox(job, sandboxId);
  };
  try {
    const cleanUpMs = batch.input.timing?.cleanUpMs ?? defaultTiming.cleanUpMs;
    const lateText = `The prepared sandbox ${sandboxId} was not stopped or deleted in time; check it.`;
    const problem = await problemWithin(cleanUpMs, end, lateText);
    const follower = source.end === 'stop' ? await handOver(job, sandboxId, problem) : null;
    if (problem === null) return nameWhatIsLeft(batch, job, source.end, follower);
    const why = ['The prepared sandbox was not stopped or deleted as requested.', follower ?? ''].join(' ').trimEnd();
    batch.leaveOwn([{ kind: 'sandbox', sandboxId, sandboxName: null, conversationId: null, why }]);
    return problem;
  } finally {
    batch.sourceJob = null;
  }
}

/** Gives a stop that has not ended to a workflow that escalates it. @returns what follows the stop, or null */
async function handOver(job: JobState, sandboxId: string, problem: JobError | null): Promise<string | null> {
  if (!mustHandOver(job, sandboxId, problem)) return null;
  let follower: string | null = null;
  await problemWithin(
    handOverWithinMs,
    async () => {
      follower = await handOverStop(job, sandboxId);
    },
    'The stop was not handed over in time.',
  );
  return follower;
}

/** False only for a sandbox that has no machine. */
function mayRun({ state }: SandboxView): boolean {
  return state !== 'archived' && state !== 'cancelled';
}

/**
 * Reports a sandbox that was not stopped or deleted as requested, although no call failed. Returns the error, or null.
 */
function nameWhatIsLeft(
  batch: BatchState,
  job: JobState,
  end: 'stop' | 'delete',
  follower: string | null,
): JobError | null {
  const {
    sandbox,
    deletion,
    carried: { stop },
  } = job;
  batch.leaveOwn(job.carried.left);
  const ended = end === 'stop' ? stop : deletion;
  if (sandbox === null || ended === null || ended.status === 'completed' || ended.status === 'gone') return null;
  const what = `The ${end === 'stop' ? 'stop' : 'deletion'} of the prepared sandbox was last seen ${ended.status}`;
  const why = [`${what}${ended.error ? `: ${ended.error}` : ''}.`, follower ?? ''].join(' ').trimEnd();
  const { id: sandboxId, name: sandboxName } = sandbox;
  batch.leaveOwn([{ kind: 'sandbox', sandboxId, sandboxName, conversationId: null, why }]);
  return jobError('clean_up_unfinished', why);
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
