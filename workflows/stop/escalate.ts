/**
 * Carries out the steps of an escalation, one at a time:
 *
 *     waiting ─► announced ⇄ refused, retried ─► done | left
 *
 * A step is announced before it acts. What it does is recorded before the next call, and each call is safe to repeat.
 * So a step acts at most once, also after a crash or in the next run. `resume-and-stop` ends the failing stop by a
 * resume. All requests that waited for that stop then request the next one, and wait for it.
 */
import { ActivityFailure, CancellationScope, isCancellation, log, TimeoutFailure } from '@temporalio/workflow';
import type { EscalatedStop } from '../../activities/stop/escalate-stop.js';
import { type ServiceFailure, unanswered } from '../../src/contract/workflow-safe/service-failure.js';
import { stepText } from '../../src/protocol/escalation.js';
import { deletionClaim } from '../../src/protocol/messages.js';
import type { EscalationStepRecord, StopRecord } from '../../src/protocol/stop.js';
import { effects } from '../shared/activity-options.js';
import { followDeletion } from '../shared/follow-deletion.js';
import { causeOf, serviceFailureOf, toJobTermination } from '../shared/job-termination.js';
import { reads } from '../shared/reads.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { refusedCallDelayMs } from '../shared/wait-intervals.js';
import { holdingClaim } from '../watch/hold-claim.js';
import { requestAndBindStop } from './bind-request.js';
import { atRiskOf, dueStep, isTooLate } from './escalation-steps.js';
import { awaitNextStop, cutText, describeStop } from './request-record.js';
import { sentBeforeOf } from './request-stop.js';
import type { StopWorkflowState } from './stop-state.js';

/** Limit of one attempt of a step, with all repetitions of a call without an answer. The other requests wait for it. */
const attemptWithin = '2 minutes';

/** Takes the next step of the request if it is due. */
export async function escalateIfDue(stop: StopWorkflowState, record: StopRecord): Promise<void> {
  const due = dueStep(record);
  if (due === undefined || due.atMs > Date.now()) return;
  const { step } = due;
  if (step.state === 'waiting') await announce(stop, record, step);
  switch (step.action) {
    case 'notify':
      endStep(step, 'done', null);
      break;
    case 'resume-and-stop':
      await resumeToStopAgain(stop, record, step);
      break;
    case 'delete':
      await deleteSandbox(stop, record, step);
      break;
  }
  stop.noteChange();
}

async function announce(stop: StopWorkflowState, record: StopRecord, step: EscalationStepRecord): Promise<void> {
  step.state = 'announced';
  step.announcedAtMs = Date.now();
  step.atRisk = atRiskOf(record, step);
  const parts = [`The step "${stepText(step)}" is due. ${describeStop(record)}`, step.atRisk ?? ''];
  await stop.tellOfStep(record, step.action, parts.join(' ').trimEnd());
}

function endStep(step: EscalationStepRecord, state: 'done' | 'left', why: string | null): void {
  step.state = state;
  step.why = cutText(why);
  step.endedAtMs = Date.now();
  step.retryAtMs = null;
}

async function leave(stop: StopWorkflowState, record: StopRecord, step: EscalationStepRecord, why: string) {
  endStep(step, 'left', why);
  await stop.tellOfStep(record, step.action, `The step "${stepText(step)}" was left: ${why}.`);
}

async function resumeToStopAgain(stop: StopWorkflowState, record: StopRecord, step: EscalationStepRecord) {
  const stopId = record.stopId ?? '';
  const answer = await attempt(stop, record, step, effects.resumeFailingStop);
  if (answer === undefined) return;
  if (answer.did !== 'resumed') return leave(stop, record, step, reasonOf(stop, answer));
  stop.noteResume(stopId);
  step.endedStopId = stopId;
  endStep(step, 'done', null);
  for (const concerned of stop.waiting.filter((one) => one.stopId === stopId)) {
    // The sandbox was resumed only to be stopped again. A read that still shows the old stop is older than the resume.
    awaitNextStop(concerned, stopId);
    if (concerned !== record) shareStep(concerned, record);
    stop.inBackground(concerned, () => requestAndBindStop(stop, concerned));
  }
}

/** Another request that waited for the same stop would have resumed the sandbox, too. */
function shareStep({ steps = [] }: StopRecord, { request }: StopRecord): void {
  const shared = steps.find(({ action, endedAtMs }) => action === 'resume-and-stop' && endedAtMs === null);
  if (shared) endStep(shared, 'done', `the request ${request.requestId} did it`);
}

async function deleteSandbox(stop: StopWorkflowState, record: StopRecord, step: EscalationStepRecord) {
  const answer = await attempt(stop, record, step, effects.deleteFailingStop);
  if (answer === undefined) return;
  if (answer.did !== 'deleting' && answer.did !== 'unnamed') return leave(stop, record, step, reasonOf(stop, answer));
  step.operationId = answer.operationId;
  record.isDeleting = true;
  stop.inBackground(record, () => followStartedDeletion(stop, record));
}

/** Follows the deletion of this request to its end. Safe to repeat in the next run. */
export async function followStartedDeletion(stop: StopWorkflowState, record: StopRecord): Promise<void> {
  const step = record.steps?.find(({ action, endedAtMs }) => action === 'delete' && endedAtMs === null);
  if (step === undefined) return;
  const { sandboxId } = stop.input;
  const follower = Object.assign(stop.callerFor(record), { timing: stop.timing });
  const isGone = async () => (await retryRefusals(follower, 'read', () => reads.getSandbox(sandboxId))) === null;
  const { operationId } = step;
  try {
    const { status, error } = await holdingClaim(
      sandboxId,
      deletionClaim,
      () => followDeletion(follower, { operationId, isGone }),
      stop,
    );
    record.isDeleting = false;
    if (status === 'completed' || status === 'gone') {
      endStep(step, 'done', null);
      stop.settle(record, { outcome: 'deleted' });
    } else await leave(stop, record, step, `the deletion is ${status}${error === null ? '' : `: ${error}`}`);
  } catch (error) {
    if (isCancellation(error)) return;
    record.isDeleting = false;
    await leave(stop, record, step, `the deletion was accepted, but not confirmed: ${toJobTermination(error).message}`);
  }
  stop.mustRead = true;
  stop.noteChange();
}

/** Tries a step once. @returns undefined if the attempt was refused; the step is then retried later, or left */
async function attempt(
  stop: StopWorkflowState,
  record: StopRecord,
  step: EscalationStepRecord,
  call: typeof effects.resumeFailingStop | typeof effects.deleteFailingStop,
): Promise<EscalatedStop | undefined> {
  const { sandboxId } = stop.input;
  const { readLagMs } = stop.timing;
  const input = { sandboxId, stopId: record.stopId ?? '', before: step.sent, readLagMs };
  const options = { summary: `${step.action} ${sandboxId}`, scheduleToCloseTimeout: attemptWithin } as const;
  try {
    // After a cancel, the effect must still be known, so that what was resumed is stopped.
    return await CancellationScope.nonCancellable(() => call.executeWithOptions(options, [input]));
  } catch (error) {
    step.sent = sentBeforeOf(error) ?? sentBeforeTimeout(error, input.stopId) ?? step.sent;
    const refusal = refusalOf(error);
    const delayMs = refusal && refusedCallDelayMs(refusal, step.refusals);
    const why = toJobTermination(error).jobError.message;
    // Who leases a sandbox that this step may have resumed works in it.
    const isGivenUp = step.sent === null ? isTooLate(record, step, Date.now()) : refusal?.code === 'sandbox_leased';
    if (delayMs === undefined || isGivenUp) {
      stop.mustRead = true;
      await leave(stop, record, step, why);
      return undefined;
    }
    log.warn('a step of the escalation of a stop is refused, and retried', { sandboxId, action: step.action, why });
    step.refusals += 1;
    step.retryAtMs = Date.now() + delayMs;
    step.why = cutText(why);
    return undefined;
  }
}

/** An attempt that timed out may have sent its call. */
function sentBeforeTimeout(error: unknown, previousStopId: string): EscalationStepRecord['sent'] | undefined {
  return causeOf(error) instanceof TimeoutFailure ? { previousStopId } : undefined;
}

/** A service that did not answer in time is tried again. */
function refusalOf(error: unknown): ServiceFailure | undefined {
  const failure = serviceFailureOf(error);
  if (failure === undefined && !(error instanceof ActivityFailure)) throw error;
  return failure ?? { ...unanswered, code: 'timeout', message: 'no answer', meaning: 'unavailable' };
}

/** Why nothing was done. The next read of the stop shows what became of it. */
function reasonOf(stop: StopWorkflowState, answer: EscalatedStop): string {
  stop.mustRead = true;
  switch (answer.did) {
    case 'resumed_by_others':
      return 'somebody has resumed the sandbox';
    case 'stopped_again':
      return 'somebody has resumed and stopped the sandbox';
    case 'ended':
      return 'the stop has ended';
    case 'gone':
      return 'the sandbox does not exist';
    case 'pending':
      return 'no attempt of the stop has failed';
    default:
      return `the answer was ${answer.did}`;
  }
}
