/** Reads the stops of all waiting requests. A request ends by these reads, not by events. */
import { isCancellation } from '@temporalio/workflow';
import { type PreservedWork, unsavedWork } from '../../src/contract/workflow-safe/preserved-work.js';
import type { StopRecord } from '../../src/protocol/stop.js';
import { observeStop, readKept, type StopObservation } from '../shared/follow-stop.js';
import { toJobTermination } from '../shared/job-termination.js';
import { requestAndBindStop } from './bind-request.js';
import { dueStep } from './escalation-steps.js';
import { recordStop } from './request-record.js';
import type { StopWorkflowState } from './stop-state.js';

/**
 * Checks every stop that a request waits for, once.
 * @returns true if a request has ended or is repeated, or a step of its escalation is due
 */
export async function checkStops(stop: StopWorkflowState): Promise<true | undefined> {
  const mark = stop.inbox.mark();
  const checked = stop.waiting;
  const stopIds = new Set(checked.flatMap(({ stopId }) => stopId ?? []));
  for (const stopId of stopIds) await checkStop(stop, stopId);
  for (const record of checked) record.blocked = null;
  stop.since = mark;
  stop.mustRead = false;
  const nowMs = Date.now();
  const isChanged = (record: StopRecord) =>
    record.outcome !== null || record.stopId === null || isStepDue(record, nowMs);
  return checked.some(isChanged) || undefined;
}

function isStepDue(record: StopRecord, nowMs: number): boolean {
  return (dueStep(record)?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}

async function checkStop(stop: StopWorkflowState, stopId: string): Promise<void> {
  const concerned = () => stop.waiting.filter((record) => record.stopId === stopId);
  try {
    const caller = stop.callerFor();
    const seen = await observeStop(caller, { sandboxId: stop.input.sandboxId, stopId }, stop.timing);
    const requestedAt = concerned().find((record) => record.requestedAt !== null)?.requestedAt ?? null;
    const isOwn = 'stop' in seen && seen.stop?.id === stopId;
    const kept = seen.kind === 'done' ? await readKept(caller, seen, isOwn ? requestedAt : null) : null;
    for (const record of concerned()) apply(stop, record, { seen, kept });
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { jobError } = toJobTermination(error);
    for (const record of concerned()) stop.settle(record, { outcome: 'rejected', error: jobError });
  }
}

interface Checked {
  readonly seen: StopObservation;
  readonly kept: PreservedWork | null;
}

function apply(stop: StopWorkflowState, record: StopRecord, { seen, kept }: Checked): void {
  // A read that is older than our resume shows the stop that the resume has ended.
  if ('stop' in seen && seen.stop?.id !== record.stopId && stop.hasResumedFrom(seen.stop?.id)) return;
  if ('stop' in seen) recordStop(record, seen.stop, Date.now());
  if (record.steps && 'sandbox' in seen) record.unsaved = unsavedWork(seen.sandbox);
  switch (seen.kind) {
    case 'pending':
      break;
    case 'done':
      stop.settle(record, { outcome: 'archived', kept });
      break;
    case 'superseded':
    case 'gone':
      // Possibly by a step whose answer was lost. Its next attempt finds out.
      if (stop.hasSentStep(record.stopId)) break;
      stop.settle(record, { outcome: seen.kind });
      break;
    case 'vanished':
      record.stopId = null;
      record.askedAgain += 1;
      stop.inBackground(record, () => requestAndBindStop(stop, record));
      break;
    default:
      seen satisfies never;
  }
}
