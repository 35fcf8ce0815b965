/** Finds the calls that a stalled job waits for. Reads them from Temporal itself, so no worker has to respond. */

import type { WorkflowExecutionDescription } from '@temporalio/client';
import { executionOf, jobWorkflowId } from '../../addresses/addresses.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import { isoTime } from '../../temporal/iso-time.js';
import type { JobAddress } from '../../workflow-client/jobs/job-client.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';

type WaitingCall = ReturnType<typeof waitingCalls>[number];

const makers: ReadonlySet<string> = new Set(['createSandbox', 'forkSandbox']);

/**
 * Lists the calls of a job, or of an item of a batch, that are being retried.
 * @returns `call`: name of the activity, such as `createSandbox`; `attempt`: its number, from 1
 */
export function repeatedCalls({ raw }: Pick<WorkflowExecutionDescription, 'raw'>) {
  return (raw.pendingActivities ?? [])
    .filter(({ attempt, lastFailure }) => (attempt ?? 0) > 1 || lastFailure)
    .map(({ activityType, attempt, lastFailure, scheduledTime, state }) => ({
      call: activityType?.name ?? 'a call',
      attempt: attempt ?? 1,
      nextAt: isPaused(state) ? isoTime(scheduledTime) : null,
      lastError: lastFailure?.message ?? null,
    }));
}

/**
 * The same, with the sandboxes that these calls may have created.
 * @returns `maybeMade`: name pattern of a sandbox that this call may have created without a response, otherwise null; `*`
 *   stands for the attempt number
 */
export function waitingCalls(
  described: Pick<WorkflowExecutionDescription, 'raw'>,
  job: JobAddress,
  { sandboxId }: Pick<JobProgress, 'sandboxId'>,
) {
  const firstRunId = described.raw.workflowExecutionInfo?.firstRunId;
  const names = firstRunId ? `${jobWorkflowId(job.deployment, job.jobId)}-${executionOf(firstRunId)}-main-*` : null;
  return repeatedCalls(described).map((repeated) => ({
    ...repeated,
    maybeMade: makers.has(repeated.call) && sandboxId === null ? names : null,
  }));
}

/** Temporal names the states by numbers, and in JSON by names. */
function isPaused(state: unknown): boolean {
  return state === 1 || state === 'PENDING_ACTIVITY_STATE_SCHEDULED';
}

/**
 * One or two lines per call. Calls that differ only in their attempt have the same text, which therefore has no time.
 * The last attempt may not have been sent at all.
 */
export function waitingText({ call, lastError, maybeMade }: WaitingCall): string {
  const met = lastError === null ? '' : `; last attempt: ${oneLine(lastError)}`;
  const may =
    maybeMade === null ? '' : `\n  A sandbox may already exist: ${programName} sandboxes --name "${maybeMade}"`;
  return `${call} has not succeeded yet and is repeated${met}${may}`;
}
