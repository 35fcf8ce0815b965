/**
 * Notices that a job was reset. The run that a reset creates begins with the history of the earlier run up to the reset
 * point, and replays it. There it must do what the earlier run did. Only after that point may it act as a job that was
 * reset.
 */
import { patched, workflowInfo } from '@temporalio/workflow';
import type { JobInput } from '../../src/protocol/job/job-input.js';
import { rememberStart } from '../shared/start-memo.js';
import type { CarriedJob } from './carried-job.js';

/**
 * True if this run or an earlier run of the chain was created by a reset, and the reset point is passed. The job does
 * not know the calls of the earlier run after that point. Adds commands to the history of a run that was reset, the
 * first time that it is called after the reset point.
 */
export function wasReset(carried: CarriedJob): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  if (carried.wasReset || runId === originalExecutionRunId) return carried.wasReset;
  // Nothing else tells a workflow where its own commands begin: no event says it to the code, and a replay of this run
  // must find the same point again. `patched` is false for events that the earlier run has answered, and true from the
  // first one that this run answers.
  if (patched('noticed-reset')) noteReset(carried);
  return carried.wasReset;
}

/**
 * True if an earlier run may have created the sandbox. The answer to a create with a reused key does not show whether
 * the sandbox is new, and a list may omit it.
 */
export function mayBeOfEarlierRun({ carried, input }: { carried: CarriedJob; input: JobInput }): boolean {
  return carried.isFound || wasReset(carried) || input.origin?.lookFirst === true;
}

/**
 * The duration counts from the first start. If the job was reset to its beginning, its deadline counts from the reset,
 * because a person who resets a job wants it to run.
 */
function noteReset(carried: CarriedJob): void {
  carried.wasReset = true;
  carried.startedAtMs = Math.min(carried.startedAtMs, workflowInfo().startTime.getTime());
  rememberStart(new Date(carried.startedAtMs).toISOString());
}
