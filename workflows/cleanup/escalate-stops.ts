/** The part of a cleanup that gives failing stops to the workflow of the sandbox's stops, and tells what that did. */
import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { AppliedAction } from '../../activities/cleanup/guarded-action.js';
import type { ActionResult } from '../../src/protocol/cleanup.js';
import { escalatingRequest } from '../../src/protocol/escalating-request.js';
import { stepText } from '../../src/protocol/escalation.js';
import type { EscalationStepView, StopOutcome, StopRequestView } from '../../src/protocol/stop.js';
import { effects, lookups } from '../shared/activity-options.js';
import { toJobTermination } from '../shared/job-termination.js';
import { safetyPollMs } from '../shared/wait-intervals.js';
import type { CleanupState } from './cleanup-state.js';

const handOverWithin = '1 minute';

/**
 * Waits for the end of the stop while a step acts or the next stop is tried, so that the night's report says what came
 * of it. Returns at once if no step is due yet.
 * @param onSeen called with what is known so far
 */
export async function followEscalation(
  cleanup: CleanupState,
  { number, sandboxId, operationId }: AppliedAction,
  onSeen: (result: ActionResult) => void,
): Promise<ActionResult> {
  const { requestId } = escalatingRequestOf(cleanup);
  for (let polls = 0; ; polls += 1) {
    const view = await lookups.readStopRequest(sandboxId, requestId);
    const result = { number, operationId, guard: null, ...resultOf(view) };
    onSeen(result);
    if (result.outcome !== 'escalating' || view === null || !isActing(view)) return result;
    await sleep(safetyPollMs(cleanup.timing, polls), { summary: 'until the escalation has acted' });
  }
}

/** A stop of this cleanup that has not ended in time is escalated, if the policy says so. */
export async function handOverIfFailing(
  cleanup: CleanupState,
  result: ActionResult,
  { sandboxId }: { readonly sandboxId?: string },
): Promise<ActionResult> {
  const isLeft = result.outcome === 'not_confirmed' && sandboxId !== undefined;
  if (!cleanup.cleanup.policy.escalate || !isLeft) return result;
  try {
    const request = escalatingRequestOf(cleanup);
    const follower = await CancellationScope.withTimeout(handOverWithin, () =>
      effects.handOverStop(sandboxId, request),
    );
    return { ...result, outcome: 'escalating', why: `${result.why}; ${follower} follows it` };
  } catch (error) {
    if (isCancellation(error)) return result;
    return { ...result, why: `${result.why}; it was not escalated: ${toJobTermination(error).message}` };
  }
}

function escalatingRequestOf({ cleanup: { policy } }: CleanupState) {
  const escalate = policy.escalate ?? { steps: [] };
  return escalatingRequest({ requestId: workflowInfo().workflowId, escalate, notify: policy.notify });
}

/** True while a step is due or acts, or the stop after a resume has not failed yet. */
function isActing({ stopId, status, escalation }: StopRequestView): boolean {
  const isDue = ({ state, dueAt }: EscalationStepView) =>
    state === 'announced' || (state === 'waiting' && dueAt !== null && Date.parse(dueAt) <= Date.now());
  const isResumed = escalation.some(({ endedStopId }) => endedStopId !== null);
  return stopId === null || escalation.some(isDue) || (isResumed && status !== 'failing');
}

const outcomes: Readonly<Record<StopOutcome, readonly [ActionResult['outcome'], string | null]>> = {
  archived: ['stopped', null],
  already_archived: ['stopped', null],
  deleted: ['deleted', null],
  gone: ['gone', 'the sandbox was deleted while its stop was escalated'],
  superseded: ['failed', 'somebody resumed it while its stop was escalated'],
  still_failing: ['failed', 'it still fails'],
  rejected: ['failed', 'the service refused its stop'],
  cancelled: ['failed', 'the workflow of its stop was cancelled'],
};

function resultOf(view: StopRequestView | null): Pick<ActionResult, 'outcome' | 'why'> {
  if (view === null) return { outcome: 'failed', why: 'Temporal no longer has the request to escalate its stop' };
  const steps = view.escalation.map(stepResult).filter((text) => text !== null);
  if (view.outcome === null) return { outcome: 'escalating', why: steps.join(', ') || null };
  const [outcome, why] = outcomes[view.outcome];
  return {
    outcome,
    why: [why ?? view.error?.message ?? null, ...steps].filter((text) => text !== null).join('; ') || null,
  };
}

/** What a step did or waits for; null for a step after the next one. */
function stepResult(step: EscalationStepView, index: number, steps: readonly EscalationStepView[]): string | null {
  const isNext = steps.findIndex(({ endedAt }) => endedAt === null) === index;
  if (step.state === 'waiting' && !isNext) return null;
  const when = step.state === 'waiting' && step.dueAt !== null ? ` until ${step.dueAt}` : '';
  return `${stepText(step)} ${step.state}${when}${step.why === null ? '' : ` (${step.why})`}`;
}
