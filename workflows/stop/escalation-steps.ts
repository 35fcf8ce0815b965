/**
 * When the steps of an escalation are due, and what they may lose. Pure.
 *
 * The times of the steps count from the moment when the service accepted the first stop of the request. Steps that come
 * late, for a stop that has failed for hours, keep the distance that was written between them. So nobody loses the time
 * to react that lies between an announcement and a deletion.
 */
import { type Escalation, stepText } from '../../src/protocol/escalation.js';
import type { EscalationStepRecord, EscalationStepView, StopRecord } from '../../src/protocol/stop.js';

export function newSteps({ steps }: Escalation): EscalationStepRecord[] {
  return steps.map(({ action, afterMs }) => ({
    ...{ action, afterMs, state: 'waiting', announcedAtMs: null, endedAtMs: null, atRisk: null, why: null },
    ...{ endedStopId: null, operationId: null, refusals: 0, retryAtMs: null, sent: null },
  }));
}

/** The first step that has not ended. */
export function nextStep({ steps = [] }: StopRecord): EscalationStepRecord | undefined {
  return steps.find(({ endedAtMs }) => endedAtMs === null);
}

/** When the time of a step has come, in ms since the epoch. */
function timeOfStep(record: StopRecord, step: EscalationStepRecord): number {
  const { steps = [], acceptedAtMs, arrivedAtMs } = record;
  const before = steps[steps.indexOf(step) - 1];
  const since = acceptedAtMs ?? arrivedAtMs;
  const spaced = before?.endedAtMs == null ? 0 : before.endedAtMs + step.afterMs - before.afterMs;
  return Math.max(since + step.afterMs, spaced, step.retryAtMs ?? 0);
}

/**
 * The step that may act next, and when; undefined while no step may. Before an attempt of the stop has failed, a step
 * that resumes or deletes waits for it.
 */
export function dueStep(
  record: StopRecord,
): { readonly step: EscalationStepRecord; readonly atMs: number } | undefined {
  const step = nextStep(record);
  if (!step || record.stopId === null || record.isDeleting) return undefined;
  // A call that may have been accepted is repeated, whatever became of the stop.
  if (step.action !== 'notify' && !record.isFailing && step.sent === null) return undefined;
  return { step, atMs: timeOfStep(record, step) };
}

/** True if a refused step is given up, because the time between it and the following step is over. */
export function isTooLate({ steps = [] }: StopRecord, step: EscalationStepRecord, nowMs: number): boolean {
  const following = steps[steps.indexOf(step) + 1];
  return following !== undefined && nowMs - (step.announcedAtMs ?? nowMs) >= following.afterMs - step.afterMs;
}

/** What a step may lose; null for a step that loses nothing. */
export function atRiskOf({ unsaved = null }: StopRecord, { action }: EscalationStepRecord): string | null {
  switch (action) {
    case 'notify':
      return null;
    case 'resume-and-stop':
      return unsaved === null
        ? 'Work that is not in its last snapshot may be lost.'
        : `${unsaved} The resume may lose it.`;
    case 'delete':
      return `The deletion takes the sandbox and its snapshots. ${unsaved ?? ''}`.trimEnd();
  }
}

export const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

export function viewOfSteps(record: StopRecord): EscalationStepView[] {
  return (record.steps ?? []).map((step) => {
    const { announcedAtMs, endedAtMs, refusals: _, retryAtMs: __, sent: ___, ...shown } = step;
    const isOpen = endedAtMs === null && record.outcome === null && record.acceptedAtMs != null;
    const dueAt = isOpen ? timeOf(timeOfStep(record, step)) : null;
    return { ...shown, dueAt, announcedAt: timeOf(announcedAtMs), endedAt: timeOf(endedAtMs) };
  });
}

/** One sentence about the steps that have ended or act now; empty if there are none. */
export function describeSteps({ steps = [] }: StopRecord): string {
  const told = steps.filter(({ state }) => state !== 'waiting');
  if (told.length === 0) return '';
  const texts = told.map((step) => `"${stepText(step)}" ${step.state}${step.why === null ? '' : ` (${step.why})`}`);
  return `Its escalation: ${texts.join(', ')}.`;
}
