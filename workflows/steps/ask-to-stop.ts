/** Asks the service to stop the sandbox, and binds the request to the stop that it receives. */
import { isCancellation, sleep } from '@temporalio/workflow';
import type { StopAnswer } from '../../activities/stop-sandbox.js';
import { ownerWorkflowId } from '../../src/contract/addresses.js';
import type { SandboxView, StopView } from '../../src/contract/sandbox-view.js';
import type { Counted } from '../../src/contract/service-failure.js';
import { effects, reads } from '../proxies.js';
import type { StopRecord } from '../stop.js';
import { keptByStop, recordStop } from '../stop-record.js';
import { safetyPollMs } from '../timing.js';
import { endOf } from './job-ended.js';
import { patiently } from './patiently.js';
import type { StopRun } from './stop-run.js';

/** Ends with the request bound to a stop or ended; or cut short, with what the next try must know in the record. */
export async function askToStop(run: StopRun, record: StopRecord): Promise<void> {
  try {
    // A stop that keeps vanishing is asked for again ever more slowly.
    if (record.askedAgain > 0) await sleep(safetyPollMs(run.timing, record.askedAgain - 1), { summary: 'ask again' });
    const answer = await patiently(run.callerFor(record), 'stop', () => tryOnce(run, record));
    if (answer === 'gone') run.settle(record, { outcome: 'gone' });
    else if ('archived' in answer) await settleArchived(run, record, answer.archived);
    else bind(run, record, answer.stop);
    run.tellNews();
  } catch (error) {
    if (isCancellation(error)) return;
    run.settle(record, { outcome: 'rejected', error: endOf(error).jobError });
    run.tellNews();
  }
}

/**
 * Reads first, each time: what this request has asked for already is adopted, and where a stop is under way it is
 * joined, so that no repetition stops what a person has just resumed (trap S7).
 */
async function tryOnce(
  run: StopRun,
  record: StopRecord,
): Promise<Counted<StopAnswer | { readonly archived: SandboxView }>> {
  const { sandboxId } = run.input;
  const { value: sandbox, calls } = await reads.getSandbox(sandboxId);
  if (sandbox === null || sandbox.state === 'cancelled') return { value: 'gone', calls };
  record.owner = sandbox.name === null ? null : (ownerWorkflowId(sandbox.name) ?? null);
  const last = sandbox.stop;
  if (record.asked && last && last.id !== record.asked.previousStopId) return { value: { stop: last }, calls };
  if (sandbox.state === 'archived' && !isOpen(last)) return { value: { archived: sandbox }, calls };
  run.apiCalls += calls;
  // A stop that is under way is what the call will return, so a repeated attempt may adopt it.
  const previousStopId = isOpen(last) ? null : (last?.id ?? null);
  record.asked = { previousStopId };
  const summary = `stop ${sandboxId}`;
  return effects.stopSandbox.executeWithOptions({ summary }, [{ sandboxId, previousStopId }]);
}

function bind(run: StopRun, record: StopRecord, stop: StopView): void {
  record.stopId = stop.id;
  record.blocked = null;
  recordStop(record, stop, Date.now());
  // Nothing will tell of a stop that has ended already.
  if (!isOpen(stop)) run.mustLook = true;
}

/** There was nothing to stop. Its last stop, read by its own id, says when the work was to be saved. */
async function settleArchived(run: StopRun, record: StopRecord, sandbox: SandboxView): Promise<void> {
  const last = sandbox.stop;
  const stop =
    last && (await patiently(run.callerFor(record), 'read', () => reads.getStop(run.input.sandboxId, last.id)));
  record.stopId = stop?.id ?? null;
  if (stop) recordStop(record, stop, Date.now());
  const outcome = record.askedAgain > 0 ? 'archived' : 'already_archived';
  run.settle(record, { outcome, kept: keptByStop(sandbox, stop) });
}

function isOpen(stop: StopView | null): boolean {
  return stop?.status === 'pending' || stop?.status === 'failing';
}
