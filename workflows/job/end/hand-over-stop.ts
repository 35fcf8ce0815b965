/**
 * Hands a stop that has not ended over to the workflow of the sandbox's stops, which follows it after the end of the
 * job and escalates it.
 */
import { workflowInfo } from '@temporalio/workflow';
import { escalatingRequest } from '../../../src/protocol/escalating-request.js';
import { escalationText } from '../../../src/protocol/escalation.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { effects } from '../../shared/activity-options.js';
import type { JobState } from '../job-state.js';
import { hasEndedAsRequested } from './has-ended.js';

/** False without an escalation, for a sandbox that has ended or needed no stop, and if others work in it. */
export function mustHandOver(
  { input, carried: { stop } }: JobState,
  sandboxId: string,
  problem: JobError | null,
): boolean {
  const isInUse = stop?.status === 'superseded' || problem?.code === 'sandbox_leased';
  const isUnneeded = stop === null && problem === null;
  if (input.escalate === undefined || isInUse || isUnneeded) return false;
  return !hasEndedAsRequested({ sandboxId, stop, deletion: null }, 'stop');
}

/** @returns what follows the stop now, as a sentence; null if the job has no escalation */
export async function handOverStop({ input }: JobState, sandboxId: string): Promise<string | null> {
  const { escalate } = input;
  if (escalate === undefined) return null;
  const { notify = input.notify, ...escalation } = escalate;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const requestId = `${workflowId}-${firstExecutionRunId}`;
  const request = escalatingRequest({ requestId, escalate: escalation, notify });
  const summary = `hand the stop of ${sandboxId} over`;
  const follower = await effects.handOverStop.executeWithOptions({ summary }, [sandboxId, request]);
  return `${follower} follows the stop, and escalates it (${escalationText(escalation)}).`;
}
