/**
 * Cleans up sandboxes by a policy: creates a plan, then applies it, and checks the guards again right before each
 * action.
 *
 *     plan ─► refused (window, another run) ─► report
 *       └──► chunk of actions ⇄ keep its results ─► report
 *
 * The plan, the actions and the results are in the result store, because for ten thousand sandboxes they exceed the
 * size limit of a history. A long run continues as new between two chunks. It always returns a named outcome.
 */
import {
  CancellationScope,
  CancelledFailure,
  isCancellation,
  log,
  metricMeter,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type {
  ActionResult,
  CleanupInput,
  CleanupOutcome,
  CleanupPlanned,
  CleanupSummary,
  ResultRemoval,
} from '../../src/protocol/cleanup.js';
import type { JobError } from '../../src/protocol/job/job-result.js';
import { cleanupProgressQuery, sandboxEventSignal } from '../../src/protocol/messages.js';
import { nightMessage } from '../../src/protocol/night-message.js';
import { planning, storing } from '../shared/activity-options.js';
import { hasLongHistory, mustMoveOn, toNewVersion } from '../shared/continue-as-new.js';
import { JobTermination, jobError, toJobTermination } from '../shared/job-termination.js';
import { countEnd } from '../shared/metrics.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { sendNotification } from '../shared/send-notification.js';
import { continueWithStart } from '../shared/start-memo.js';
import { CleanupState } from './cleanup-state.js';
import { runCleanupAction } from './run-action.js';

const warningsInMessage = 10;

export async function retentionCleanup(input: CleanupInput): Promise<CleanupSummary> {
  const cleanup = new CleanupState(input);
  setHandler(cleanupProgressQuery, () => cleanup.progress());
  setHandler(sandboxEventSignal, (event) => cleanup.inbox.record(event));
  let outcome: CleanupOutcome = 'applied';
  let error: JobError | null = null;
  try {
    // Other cleanups see only the memo of the current run, so this memo must include the actions of the previous runs.
    if (cleanup.carried.planned) cleanup.reserve(cleanup.left);
    const planned = cleanup.carried.planned ?? (await planInTime(cleanup));
    if (input.mode === 'plan') outcome = 'planned';
    else if (planned.refusal) outcome = planned.refusal.outcome;
    else await apply(cleanup, planned);
    if (cleanup.carried.nextChunk < planned.chunks.length && outcome === 'applied') {
      return await continueWithStart<typeof retentionCleanup>(cleanup.carried.startedAt, cleanup.carry(), toNewVersion);
    }
    if (input.policy.resultsOlderThanMs !== undefined && (outcome === 'planned' || outcome === 'applied'))
      cleanup.removal = await removeResults(input);
  } catch (thrown) {
    if (isCancellation(thrown)) outcome = 'cancelled';
    else {
      outcome = 'failed';
      error = toJobTermination(thrown).jobError;
    }
  }
  return CancellationScope.nonCancellable(() => report(cleanup, outcome, error));
}

/** Creates the plan. @throws JobTermination if the service or Temporal prevents the plan within the time limit */
async function planInTime(cleanup: CleanupState): Promise<CleanupPlanned> {
  const { planDeadlineMs } = cleanup.settings;
  const whole = CancellationScope.current();
  try {
    return await CancellationScope.withTimeout(planDeadlineMs, () => plan(cleanup));
  } catch (error) {
    if (!isCancellation(error) || whole.consideredCancelled) throw error;
    const waitedFor = cleanup.blocked === null ? '' : `; it was waiting: ${cleanup.blocked.message}`;
    const message = `No plan was created within ${Math.round(planDeadlineMs / 1_000)} seconds${waitedFor}`;
    throw new JobTermination('rejected', jobError('plan_deadline', message));
  }
}

async function plan(cleanup: CleanupState): Promise<CleanupPlanned> {
  const { deployment, policy, mode } = cleanup.cleanup;
  cleanup.reserve(0);
  const { key, settings } = cleanup;
  const planned = await retryRefusals(cleanup, 'plan', () =>
    planning.planCleanup({ deployment, policy, key, chunkSize: settings.chunkSize }),
  );
  cleanup.carried.planned = planned;
  if (mode === 'plan' || planned.refusal !== null || planned.due === 0) return planned;
  cleanup.reserve(planned.due);
  if (settings.settleMs > 0) await sleep(settings.settleMs, { summary: 'until other runs of the policy are visible' });
  const { takenTonight } = planned;
  const why = await planning.lookAtOtherCleanups({ deployment, policy, takenTonight });
  if (why !== null) {
    cleanup.reserve(0);
    cleanup.carried.planned = { ...planned, refusal: { outcome: 'another_run', why } };
  }
  return cleanup.carried.planned;
}

/** Applies chunks one by one, until all are done or the history is long. */
async function apply(cleanup: CleanupState, { chunks, due }: CleanupPlanned): Promise<void> {
  cleanup.phase = 'applying';
  const { maxHistoryEvents } = cleanup.settings;
  const { nextChunk: first } = cleanup.carried;
  // A run that moves on at once would apply nothing.
  const hasApplied = () => cleanup.carried.nextChunk > first;
  const isLong = () => (hasApplied() ? mustMoveOn(maxHistoryEvents) : hasLongHistory(maxHistoryEvents));
  for (let chunk = chunks[cleanup.carried.nextChunk]; chunk && !isLong(); chunk = chunks[cleanup.carried.nextChunk]) {
    const before = cleanup.carried.nextChunk * cleanup.settings.chunkSize;
    const results: ActionResult[] = [];
    try {
      await cleanChunk(cleanup, { ...chunk, before }, results);
    } finally {
      await CancellationScope.nonCancellable(() => keepResults(cleanup, { ...chunk, before }, results));
    }
  }
  if (cleanup.carried.nextChunk >= chunks.length && due > 0) cleanup.reserve(0);
}

interface Chunk {
  readonly ref: string;
  readonly count: number;
  /** Number of actions in earlier chunks. */
  readonly before: number;
}

/** Runs a fixed number of workers in parallel; each takes the next action when it finishes one. */
async function cleanChunk(
  cleanup: CleanupState,
  { ref, count, before }: Chunk,
  results: ActionResult[],
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      results.push(await runCleanupAction(cleanup, { chunkRef: ref, index, number: before + index + 1 }));
    }
  };
  const lanes = Array.from({ length: Math.min(cleanup.settings.concurrency, count) }, lane);
  const ends = await Promise.allSettled(lanes);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
  // The results of the last actions may be what was known when the cancel came.
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The cleanup was cancelled');
}

async function keepResults(cleanup: CleanupState, { count, before }: Chunk, results: ActionResult[]): Promise<void> {
  const reached = new Set(results.map(({ number }) => number));
  for (let number = before + 1; number <= before + count; number += 1) {
    const unreached = { number, guard: null, why: 'the cleanup was cancelled', operationId: null };
    if (!reached.has(number)) results.push({ ...unreached, outcome: 'not_reached' });
  }
  cleanup.count(results);
  const key = `${cleanup.key}/results-${cleanup.carried.nextChunk}.json`;
  cleanup.carried.resultRefs = [...cleanup.carried.resultRefs, await storing.keepCleanupResults(key, results)];
  cleanup.carried.nextChunk += 1;
}

/** A failure is reported, and the cleanup of the sandboxes has not failed for it. */
function removeResults({ deployment, policy, mode }: CleanupInput): Promise<ResultRemoval> {
  // Each attempt has a limit of its own, and a killed worker cannot tell what it has removed.
  const once = { retry: { maximumAttempts: 1 } };
  const removal = planning.removeResults.executeWithOptions(once, [{ deployment, policy, mode }]);
  return removal.catch((error) => {
    if (isCancellation(error)) throw error;
    return { folders: 0, removed: 0, objects: 0, bytes: 0, problem: toJobTermination(error).jobError.message };
  });
}

async function report(cleanup: CleanupState, outcome: CleanupOutcome, error: JobError | null): Promise<CleanupSummary> {
  cleanup.phase = 'reporting';
  if (cleanup.cleanup.mode === 'apply' && cleanup.carried.planned)
    await raiseWarnings(cleanup, cleanup.carried.planned);
  const { limitProblem } = cleanup.carried.planned ?? {};
  if (limitProblem)
    log.warn('The limits of the policy let nothing act', { policy: cleanup.cleanup.policy.name, limitProblem });
  const summary = await storeReport(cleanup, cleanup.summary(outcome, error));
  countEnd('cleanup', summary);
  // Another run tells what was done.
  if (cleanup.cleanup.mode === 'apply' && outcome !== 'another_run')
    await sendNotification(cleanup, 'ended', outcome, nightMessage(summary));
  cleanup.phase = 'ended';
  return summary;
}

async function storeReport(cleanup: CleanupState, summary: CleanupSummary): Promise<CleanupSummary> {
  const { key } = cleanup;
  const { resultRefs } = cleanup.carried;
  try {
    return { ...summary, ...(await storing.finishCleanup({ key, resultRefs, summary })) };
  } catch (thrown) {
    log.warn('The report could not be stored', { error: String(thrown) });
    return { ...summary, error: summary.error ?? toJobTermination(thrown).jobError };
  }
}

async function raiseWarnings(cleanup: CleanupState, { warnings, warningCount }: CleanupPlanned): Promise<void> {
  metricMeter
    .createGauge('sandflow_cleanup_expiring', 'int')
    .set(warningCount, { policy: cleanup.cleanup.policy.name });
  if (warningCount === 0) return;
  for (const warning of warnings) log.warn('The data of a protected sandbox is about to expire', { ...warning });
  const named = warnings
    .slice(0, warningsInMessage)
    .map(({ name, sandboxId, dataExpiresAt }) => `${name ?? ''} (${sandboxId}) at ${dataExpiresAt}`);
  const more = warningCount > named.length ? ` and ${warningCount - named.length} more` : '';
  const message = `The data of protected sandboxes is about to be deleted by the service: ${named.join(', ')}${more}.`;
  await sendNotification(cleanup, 'data_expiring', null, message);
}
