/** How a step ends the job, and which outcome a failed activity leads to. */

import { ActivityFailure, ApplicationFailure, TemporalFailure, TimeoutFailure } from '@temporalio/workflow';
import { outcomeUnknownCode, type ServiceFailure } from '../../src/contract/workflow-safe/service-failure.js';
import type { SourceState } from '../../src/contract/workflow-safe/source-state.js';
import type { ForeignCode } from '../../src/errors/sandflow-error.js';
import type { JobError, JobOutcome } from '../../src/protocol/job/job-result.js';
import type { JobErrorCode, ResultErrorCode } from '../../src/protocol/result-error-codes.js';
import { cut } from '../../src/texts/length.js';

/** Longest error message, in characters. A message may quote output of any length. */
const maxMessageLength = 4_000;

/** Code of an item whose fork may have started from another state than the forks before it. */
export const sourceChangedCode = 'source_changed' satisfies ResultErrorCode;

/** Thrown by a step to end the job. Never leaves the workflow. */
export class JobTermination extends Error {
  override readonly name = 'JobTermination';

  constructor(
    readonly outcome: JobOutcome,
    readonly jobError: JobError,
  ) {
    super(jobError.message);
  }
}

/**
 * @param code a code of sandflow or of the service; use `foreign` for a code that comes from elsewhere
 */
export function jobError(code: JobErrorCode | ForeignCode, given: string): JobError {
  const own = { status: null, requestId: null, details: null };
  return { ...own, code: typeof code === 'string' ? code : code.foreign, message: cut(given, maxMessageLength) };
}

/** @param change why the source is no longer in this state */
export function sourceChanged(state: SourceState, change: string): JobError {
  const what = state.kind === 'snapshot' ? `The snapshot "${state.name}"` : `The source ${state.sandboxId}`;
  const why = `may not be in the state from which the first forks of the batch started: ${change}`;
  return jobError(sourceChangedCode, `${what} ${why}. Run the other items as a new batch.`);
}

export function sandboxFailed(code: ResultErrorCode, message: string): JobTermination {
  return new JobTermination('sandbox_failed', jobError(code, message));
}

/**
 * How a job ends whose sandbox somebody else ended.
 * @param state the last state of the sandbox; null if the service no longer has it
 * @param during what the job did meanwhile, like `during the prompt`
 */
export function sandboxLost(state: string | null, during: string): JobTermination {
  const isStopped = state === 'archived' || state === 'archiving';
  if (isStopped) return sandboxFailed('sandbox_stopped', `The sandbox was stopped ${during}`);
  return sandboxFailed('sandbox_gone', `The sandbox was deleted ${during}`);
}

export function outcomeUnknown(message: string): JobTermination {
  return new JobTermination('outcome_unknown', jobError(outcomeUnknownCode, message));
}

/**
 * The failure of a local activity arrives directly. The failure of any other activity is the cause of an
 * `ActivityFailure`.
 */
export function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure ? error.cause : error;
}

/** The service failure that an activity failure carries; undefined if it carries none. */
export function serviceFailureOf(error: unknown): ServiceFailure | undefined {
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure)) return undefined;
  const [detail] = cause.details ?? [];
  const isServiceFailure = typeof detail === 'object' && detail !== null && 'meaning' in detail && 'code' in detail;
  return isServiceFailure ? (detail as ServiceFailure) : undefined;
}

/** The type of an `ApplicationFailure` that an activity threw itself; undefined for any other failure. */
export function applicationCodeOf(error: unknown): string | undefined {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
}

/**
 * The outcome of a job that ends with this error. The caller handles cancellations.
 * @throws the error itself, unless it is a `JobTermination` or a failure of Temporal
 */
export function toJobTermination(error: unknown): JobTermination {
  if (error instanceof JobTermination) return error;
  const failure = serviceFailureOf(error);
  if (failure) {
    const { code, message, status, requestId, details } = failure;
    const outcome = code === outcomeUnknownCode ? 'outcome_unknown' : 'rejected';
    return new JobTermination(outcome, { code, message, status, requestId, details });
  }
  // Any other error is a defect of sandflow. It is thrown again, so that only the workflow task fails and the job does
  // not end.
  if (error instanceof TemporalFailure) {
    const cause = causeOf(error);
    const what = error instanceof ActivityFailure ? error.activityType : 'a step';
    const message = `${what} failed: ${cause instanceof Error ? cause.message : error.message}`;
    const isTimeout = cause instanceof TimeoutFailure;
    return new JobTermination('rejected', jobError(isTimeout ? 'activity_timeout' : 'activity_failed', message));
  }
  throw error;
}
