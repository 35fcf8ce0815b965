/** Finds the calls that a stalled job waits for. Reads them from Temporal itself, so no worker has to respond. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { JobProgress } from '../../../workflows/job/progress.js';
import { executionOf, jobWorkflowId } from '../../contract/addresses.js';
import type { JobAddress } from '../../temporal/jobs/client.js';
import { oneLine } from '../output/terminal-safe.js';

export interface WaitingCall {
  /** Name of the activity, such as `createSandbox`. */
  readonly call: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Start of the first attempt, ISO 8601; null if Temporal does not say. */
  readonly since: string | null;
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
    .map(({ activityType, attempt, lastFailure, scheduledTime }) => {
      const call = activityType?.name ?? 'a call';
      return {
        call,
        attempt: attempt ?? 1,
        since: timeOf(scheduledTime),
        lastError: lastFailure?.message ?? null,
        maybeMade: makers.has(call) && sandboxId === null ? names : null,
      };
    });
}

/** One or two lines per call. Calls that differ only in their attempt have the same text. */
export function waitingText({ call, since, lastError, maybeMade }: WaitingCall): string {
  const asked = since === null ? '' : ` since ${since}`;
  const met = lastError === null ? '' : `; last attempt: ${oneLine(lastError)}`;
  const may = maybeMade === null ? '' : `\n  A sandbox may already exist: sandflow sandboxes --name "${maybeMade}"`;
  return `Waiting for a response to ${call}${asked}${met}${may}`;
}

function timeOf(time: { readonly seconds?: unknown } | null | undefined): string | null {
  const seconds = Number(time?.seconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1_000).toISOString() : null;
}
