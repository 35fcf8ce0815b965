/** Checks stops by their own ids, together with the sandbox: the state of the service decides, not events. */
import { isCancellation } from '@temporalio/workflow';
import type { SandboxView, StopView } from '../../src/contract/sandbox-view.js';
import { toJobTermination } from '../job/termination.js';
import { confirmMissing } from '../shared/confirm-missing.js';
import { reads } from '../shared/proxies.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { requestAndBindStop } from './bind-request.js';
import { keptByStop, recordStop } from './request-record.js';
import type { StopWorkflowState } from './state.js';
import type { StopRecord } from './types.js';

type Sight =
  /** `stop` is null if the archived sandbox shows none. */
  | { readonly kind: 'completed'; readonly stop: StopView | null; readonly sandbox: SandboxView | null }
  /** A stop with another id has replaced one that the service no longer knows. */
  | { readonly kind: 'open' | 'superseded'; readonly stop: StopView }
  | { readonly kind: 'gone' | 'vanished' };

/**
 * Checks every stop that a request waits for, once.
 * @returns true if a request has ended or is repeated
 */
export async function checkStops(run: StopWorkflowState): Promise<true | undefined> {
  const mark = run.inbox.mark();
  const looked = run.waiting;
  const stopIds = new Set(looked.flatMap(({ stopId }) => stopId ?? []));
  for (const stopId of stopIds) await lookAtStop(run, stopId);
  for (const record of looked) record.blocked = null;
  run.since = mark;
  run.mustLook = false;
  return looked.some(({ outcome, stopId }) => outcome !== null || stopId === null) || undefined;
}

async function lookAtStop(run: StopWorkflowState, stopId: string): Promise<void> {
  const concerned = () => run.waiting.filter((record) => record.stopId === stopId);
  try {
    const sight = await see(run, stopId);
    for (const record of concerned()) apply(run, record, sight);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { jobError } = toJobTermination(error);
    for (const record of concerned()) run.settle(record, { outcome: 'rejected', error: jobError });
  }
}

function apply(run: StopWorkflowState, record: StopRecord, sight: Sight): void {
  if ('stop' in sight) {
    record.stopId = sight.stop?.id ?? null;
    if (sight.stop) recordStop(record, sight.stop, Date.now());
  }
  if (sight.kind === 'completed') {
    run.settle(record, { outcome: 'archived', kept: keptByStop(sight.sandbox, sight.stop) });
  } else if (sight.kind === 'superseded' || sight.kind === 'gone') {
    run.settle(record, { outcome: sight.kind });
  } else if (sight.kind === 'vanished') {
    record.stopId = null;
    record.askedAgain += 1;
    run.beside(record, () => requestAndBindStop(run, record));
  }
}

async function see(run: StopWorkflowState, stopId: string): Promise<Sight> {
  const { sandboxId } = run.input;
  const caller = run.callerFor();
  let unconfirmed: Sight = { kind: 'gone' };
  const seen = await confirmMissing<Sight>(run.timing.readLagMs, async () => {
    const stop = await retryRefusals(caller, 'read', () => reads.getStop(sandboxId, stopId));
    if (stop?.status === 'superseded') return { kind: 'superseded', stop };
    const sandbox = await retryRefusals(caller, 'read', () => reads.getSandbox(sandboxId));
    if (stop?.status === 'completed') return { kind: 'completed', stop, sandbox };
    if (sandbox?.state === 'cancelled') return { kind: 'gone' };
    // Between the two reads, somebody may have resumed the sandbox, or it may have been archived.
    unconfirmed = { kind: sandbox === null ? 'gone' : 'vanished' };
    return sandbox && sightOf(sandbox, stop, stopId);
  });
  return seen ?? unconfirmed;
}

/** @param stop read by its id, without a known final status; null if the service does not know it */
function sightOf(sandbox: SandboxView, stop: StopView | null, stopId: string): Sight | null {
  const { state, stop: last } = sandbox;
  if (state === 'archived' && !isOpen(stop)) return { kind: 'completed', stop: stop ?? last, sandbox };
  if (stop === null) return last && isOpen(last) ? { kind: 'open', stop: last } : null;
  const isHeld = last?.id === stopId || state === 'archiving' || state === 'archived';
  return isHeld ? { kind: 'open', stop } : null;
}

function isOpen(stop: StopView | null): boolean {
  return stop?.status === 'pending' || stop?.status === 'failing';
}
