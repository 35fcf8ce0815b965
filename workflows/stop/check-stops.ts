/** Reads stops by their ids, and the sandbox. A request ends by these reads, not by events. */
import { isCancellation } from '@temporalio/workflow';
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { StopRecord } from '../../src/protocol/stop.js';
import { confirmMissing } from '../shared/confirm-missing.js';
import { toJobTermination } from '../shared/job-termination.js';
import { reads } from '../shared/reads.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { requestAndBindStop } from './bind-request.js';
import { keptByStop, recordStop } from './request-record.js';
import { type ObservedStop, observedStop } from './stop-outcome.js';
import type { StopWorkflowState } from './stop-state.js';

type StopObservation =
  | Exclude<ObservedStop, { kind: 'done' }>
  | (Extract<ObservedStop, { kind: 'done' }> & { readonly sandbox: SandboxView | null });

/**
 * Checks every stop that a request waits for, once.
 * @returns true if a request has ended or is repeated
 */
export async function checkStops(run: StopWorkflowState): Promise<true | undefined> {
  const mark = run.inbox.mark();
  const checked = run.waiting;
  const stopIds = new Set(checked.flatMap(({ stopId }) => stopId ?? []));
  for (const stopId of stopIds) await checkStop(run, stopId);
  for (const record of checked) record.blocked = null;
  run.since = mark;
  run.mustRead = false;
  return checked.some(({ outcome, stopId }) => outcome !== null || stopId === null) || undefined;
}

async function checkStop(run: StopWorkflowState, stopId: string): Promise<void> {
  const concerned = () => run.waiting.filter((record) => record.stopId === stopId);
  try {
    const seen = await observeStop(run, stopId);
    for (const record of concerned()) apply(run, record, seen);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { jobError } = toJobTermination(error);
    for (const record of concerned()) run.settle(record, { outcome: 'rejected', error: jobError });
  }
}

function apply(run: StopWorkflowState, record: StopRecord, seen: StopObservation): void {
  if ('stop' in seen) recordStop(record, seen.stop, Date.now());
  switch (seen.kind) {
    case 'pending':
      break;
    case 'done':
      run.settle(record, { outcome: 'archived', kept: keptByStop(seen.sandbox, seen.stop) });
      break;
    case 'superseded':
    case 'gone':
      run.settle(record, { outcome: seen.kind });
      break;
    case 'vanished':
      record.stopId = null;
      record.askedAgain += 1;
      run.inBackground(record, () => requestAndBindStop(run, record));
      break;
    default:
      seen satisfies never;
  }
}

function observeStop(run: StopWorkflowState, stopId: string): Promise<StopObservation> {
  const mayLag = (seen: StopObservation) => 'mayLag' in seen && seen.mayLag;
  return confirmMissing(run.timing.readLagMs, () => observeOnce(run, stopId), mayLag);
}

async function observeOnce(run: StopWorkflowState, stopId: string): Promise<StopObservation> {
  const { sandboxId } = run.input;
  const caller = run.callerFor();
  const stop = await retryRefusals(caller, 'read', () => reads.getStop(sandboxId, stopId));
  if (stop?.status === 'superseded') return { kind: 'superseded', stop };
  const sandbox = await retryRefusals(caller, 'read', () => reads.getSandbox(sandboxId));
  const seen = observedStop(stop, sandbox);
  if (seen.kind === 'done') return { ...seen, sandbox };
  // Between the two reads, somebody may have resumed the sandbox.
  if (seen.kind === 'pending' && !isShownBy(sandbox, seen.stop)) return { kind: 'vanished', mayLag: true };
  return seen;
}

function isShownBy(sandbox: SandboxView | null, stop: StopView): boolean {
  return sandbox?.stop?.id === stop.id || sandbox?.state === 'archiving' || sandbox?.state === 'archived';
}
