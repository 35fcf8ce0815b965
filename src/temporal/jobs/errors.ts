/** Errors of Temporal's client, translated for users of a job. */
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { jobWorkflowId } from '../../contract/addresses.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { describeReadable } from '../readable-memos.js';
import type { JobAddress } from './client.js';

const grpcCancelled = 1;
const grpcDeadlineExceeded = 4;
const grpcInternal = 13;
const grpcUnavailable = 14;

/** True if Temporal was not reached, so the same call may succeed later. */
export function isTemporalUnreachable(error: unknown): boolean {
  const code = grpcCode(error);
  return code === grpcUnavailable || code === grpcCancelled || code === grpcInternal || code === grpcDeadlineExceeded;
}

/** Converts an error of Temporal's client into one that says how to fix it; returns others unchanged. */
export async function explainJobError(error: unknown, client: Client, job: JobAddress): Promise<unknown> {
  if (error instanceof WorkflowUpdateFailedError) {
    return new SandflowError('refused', `The job "${job.jobId}" refused: ${error.cause?.message ?? error.message}`, {
      cause: error,
    });
  }
  if (error instanceof WorkflowNotFoundError) return missingOrEnded(error, client, job);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || grpcCode(error) === grpcDeadlineExceeded) {
    return new SandflowError(
      'no_worker',
      `The job "${job.jobId}" did not answer in time: no worker takes its tasks. Start one with \`sandflow worker\`.`,
      { cause: error },
    );
  }
  return error;
}

/** Temporal says `not found` to both, with a text that is not to be relied on. */
async function missingOrEnded(cause: unknown, client: Client, job: JobAddress): Promise<SandflowError> {
  try {
    await describeReadable(client, jobWorkflowId(job.deployment, job.jobId));
  } catch {
    return new SandflowError(
      'job_not_found',
      `There is no job "${job.jobId}" in the deployment "${job.deployment}". \`sandflow jobs list\` shows those that there are.`,
      { cause },
    );
  }
  return jobEnded(job, cause);
}

/** The job is there and takes nothing any more. */
export function jobEnded({ jobId }: JobAddress, cause?: unknown): SandflowError {
  return new SandflowError(
    'job_ended',
    `The job "${jobId}" has ended. \`sandflow jobs show ${jobId}\` shows its result.`,
    { cause },
  );
}

function grpcCode(error: unknown): number | undefined {
  if (error instanceof ServiceError) return grpcCode(error.cause);
  return isGrpcServiceError(error) ? error.code : undefined;
}
