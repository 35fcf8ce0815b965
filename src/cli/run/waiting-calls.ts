/** What a job that seems to stand still asks of the service, as Temporal itself knows it: no worker has to answer. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { JobProgress } from '../../../workflows/job/types.js';
import { executionOf, jobWorkflowId } from '../../contract/addresses.js';
import type { JobAddress } from '../../temporal/jobs/client.js';
import { oneLine } from '../output/terminal-safe.js';

export interface WaitingCall {
  /** Such as `createSandbox`. */
  readonly call: string;
  /** From 1. */
  readonly attempt: number;
  /** Of its first attempt, ISO 8601; null where Temporal does not say. */
  readonly since: string | null;
  /** What the last attempt met; null where none has failed yet. */
  readonly lastError: string | null;
  /** Of a create without an answer: a sandbox of a name like this may exist. `*` stands for the number of the try. */
  readonly maybeMade: string | null;
}

const makers: ReadonlySet<string> = new Set(['createSandbox', 'forkSandbox']);

/** Calls of the job that are made again because no good answer came. */
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

/** For people: one or two lines a call. `waitingCalls` that say the same but for the attempt have the same text. */
export function waitingText({ call, since, lastError, maybeMade }: WaitingCall): string {
  const asked = since === null ? '' : `, asked for since ${since}`;
  const met = lastError === null ? '' : `; the last attempt: ${oneLine(lastError)}`;
  const may = maybeMade === null ? '' : `\n  a sandbox may exist already: sandflow sandboxes --name "${maybeMade}"`;
  return `It waits for an answer to ${call}${asked}${met}${may}`;
}

function timeOf(time: { readonly seconds?: unknown } | null | undefined): string | null {
  const seconds = Number(time?.seconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1_000).toISOString() : null;
}
