/** Requests a stop from the service, and binds the request to the stop that it receives. */
import { isCancellation, sleep } from '@temporalio/workflow';
import type { StopAnswer } from '../../activities/sandbox/stop-resume.js';
import { ownerWorkflowId } from '../../src/addresses/addresses.js';
import type { StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isOpenStop } from '../../src/contract/workflow-safe/states.js';
import type { StopRecord } from '../../src/protocol/stop.js';
import { readKept } from '../shared/follow-stop.js';
import { toJobTermination } from '../shared/job-termination.js';
import { safetyPollMs } from '../shared/wait-intervals.js';
import { awaitNextStop, recordStop, sharesStop } from './request-record.js';
import { requestStop } from './request-stop.js';
import { requestNextStop } from './stop-again.js';
import type { StopWorkflowState } from './stop-state.js';

/**
 * Binds the request to a stop, or ends the request. If this is interrupted, the record contains everything that the
 * next attempt needs.
 */
export async function requestAndBindStop(stop: StopWorkflowState, record: StopRecord): Promise<void> {
  try {
    // If the service loses the stop again and again, requests are repeated at growing intervals.
    if (record.askedAgain > 0)
      await sleep(safetyPollMs(stop.timing, record.askedAgain - 1), { summary: 'before the stop is requested again' });
    await take(stop, record, await askToStop(stop, record));
    stop.noteChange();
  } catch (error) {
    if (isCancellation(error)) return;
    const { jobError } = toJobTermination(error);
    const message = `It was resumed to be stopped again, and may run. ${jobError.message}`;
    stop.settle(record, { outcome: 'rejected', error: record.stopsAgain ? { ...jobError, message } : jobError });
    stop.noteChange();
  }
}

function askToStop(stop: StopWorkflowState, record: StopRecord): Promise<StopAnswer> {
  if (record.stopsAgain) return requestNextStop(stop, record);
  const call = { sandboxId: stop.input.sandboxId, timing: stop.timing, memory: record };
  return requestStop(stop.callerFor(record), call);
}

/** Binds the request to the stop in the answer, or ends the request. */
export async function take(state: StopWorkflowState, record: StopRecord, answer: StopAnswer): Promise<void> {
  if (answer === 'gone') return state.settle(record, { outcome: 'gone' });
  const { how, stop, sandbox } = answer;
  if (stop !== null && how !== 'in_use' && state.hasResumedFrom(stop.id)) {
    // A step of another request has resumed the sandbox since the read of this one.
    awaitNextStop(record, stop.id);
    return take(state, record, await askToStop(state, record));
  }
  record.owner = sandbox.name === null ? null : (ownerWorkflowId(sandbox.name) ?? null);
  const wasResumed = record.stopsAgain === true;
  record.stopsAgain = undefined;
  if (how === 'resumed_since' || how === 'in_use') {
    record.stopId = stop?.id ?? null;
    record.status = stop?.status ?? null;
    // Somebody has resumed the sandbox since, or uses it: do not report it as archived now.
    return state.settle(record, { outcome: 'superseded' });
  }
  if (stop && how !== 'already_archived') return bind(state, record, stop);
  // There was nothing to stop. The last stop shows whether its work was saved.
  const kept = await readKept(state.callerFor(record), { sandbox, stop }, stop?.requestedAt ?? null);
  const isShared = stop !== null && sharesStop(record, stop.id, state.carried.records);
  recordStop(record, stop, Date.now());
  const outcome = record.askedAgain > 0 || wasResumed || isShared ? 'archived' : 'already_archived';
  state.settle(record, { outcome, kept });
}

function bind(state: StopWorkflowState, record: StopRecord, stop: StopView): void {
  record.blocked = null;
  recordStop(record, stop, Date.now());
  // No event will arrive for a stop that has already ended.
  if (!isOpenStop(stop)) state.mustRead = true;
}
