/** Finds the calls that a stalled job waits for. Reads them from Temporal itself, so no worker has to respond. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { executionOf, jobWorkflowId } from '../../contract/workflow-safe/addresses.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import { isoTime } from '../../temporal/iso-time.js';
import type { JobAddress } from '../../workflow-client/jobs/job-client.js';
import { oneLine } from '../output/terminal-safe.js';

export interface WaitingCall {
  /** Name of the activity, such as `createSandbox`. */
  readonly call: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Time of the next attempt, ISO 8601; null while an attempt runs. */
  readonly nextAt: string | null;
  /** Error of the last attempt; null if none has failed yet. */
  readonly lastError: string | null;
  /**
   * Name pattern of a sandbox that this call may have created without a response; otherwise null. `*` stands for
   * the attempt number.
   */
  readonly maybeMade: string | null;
}

const makers: ReadonlySet<string> = new Set(['createSandbox', 'forkSandbox']);

/** Lists the calls of the job that are being retried. */
export function waitingCalls(
  { raw }: Pick<WorkflowExecutionDescription, 'raw'>,
  job: JobAddress,
  { sandboxId }: Pick<JobProgress, 'sandboxId'>,
): WaitingCall[] {
  const firstRunId = raw.workflowExecutionInfo?.firstRunId;
  const names = firstRunId ? `${jobWorkflowId(job.deployment, job.jobId)}-${executionOf(firstRunId)}-main-*` : null;
  return (raw.pendingActivities ?? [])
    .filter(({ attempt, lastFailure }) => (attempt ?? 0) > 1 || lastFailure)
    .map(({ activityType, attempt, lastFailure, scheduledTime, state }) => {
      const call = activityType?.name ?? 'a call';
      return {
        call,
        attempt: attempt ?? 1,
        nextAt: isPaused(state) ? isoTime(scheduledTime) : null,
        lastError: lastFailure?.message ?? null,
        maybeMade: makers.has(call) && sandboxId === null ? names : null,
      };
    });
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
  const may = maybeMade === null ? '' : `\n  A sandbox may already exist: sandflow sandboxes --name "${maybeMade}"`;
  return `${call} has not succeeded yet and is repeated${met}${may}`;
}
