/** How a step ends the job, and how a failed activity reads as an outcome. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { outcomeUnknownCode, type ServiceFailure } from '../../src/contract/service-failure.js';
import type { JobError, JobOutcome } from '../job.js';

/** Thrown by a step that ends the job; never leaves the workflow. */
export class JobEnded extends Error {
  override readonly name = 'JobEnded';

  constructor(
    readonly outcome: JobOutcome,
    readonly jobError: JobError,
  ) {
    super(jobError.message);
  }
}

export function jobError(code: string, message: string): JobError {
  return { code, message, status: null, requestId: null, details: null };
}

/** What the service said, where the failure of an activity carries it. */
export function serviceFailureOf(error: unknown): ServiceFailure | undefined {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const [detail] = error.cause.details ?? [];
  const isServiceFailure = typeof detail === 'object' && detail !== null && 'meaning' in detail && 'code' in detail;
  return isServiceFailure ? (detail as ServiceFailure) : undefined;
}

/** The outcome of a job that ends by this error; cancellations are the caller's. */
export function endOf(error: unknown): JobEnded {
  if (error instanceof JobEnded) return error;
  const failure = serviceFailureOf(error);
  if (failure) {
    const { code, message, status, requestId, details } = failure;
    const outcome = code === outcomeUnknownCode ? 'outcome_unknown' : 'rejected';
    return new JobEnded(outcome, { code, message, status, requestId, details });
  }
  if (error instanceof ActivityFailure) {
    const isTimeout = error.cause instanceof TimeoutFailure;
    const message = `${error.activityType} failed: ${error.cause?.message ?? error.message}`;
    return new JobEnded('rejected', jobError(isTimeout ? 'activity_timeout' : 'activity_failed', message));
  }
  throw error;
}
