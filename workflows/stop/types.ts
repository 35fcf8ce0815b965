/** What goes into a `stopAndAwaitArchive` and what comes out of it. Types only. */
import type { JobError, JobProgress, JobTiming, NotifyTarget, PreservedWork, Wake } from '../job/types.js';

/** One caller's wish that the sandbox be stopped. */
export interface StopRequest {
  /** The caller's own id: the same id is the same request, and its first settings stand. */
  readonly requestId: string;
  /** When the caller stops waiting, in ms from the arrival of the request. The service goes on all the same. */
  readonly deadlineMs: number;
  /** When somebody is told that the stop has not ended, in ms from the arrival of the request; null: never. */
  readonly alertAfterMs: number | null;
  /** Who is told: of the alert, of a service that refuses, and of the end. */
  readonly notify?: NotifyTarget;
}

/**
 * - `archived`: the stop that this request received has completed.
 * - `already_archived`: there was nothing to stop.
 * - `superseded`: somebody resumed the sandbox since; it is not stopped again.
 * - `gone`: there is no such sandbox: it was told `cancelled`, or its 404 has lasted for longer than reads lag.
 * - `still_failing`: the deadline passed, and the sandbox was not seen archived.
 * - `rejected`: the service refused for good, or the workflow was cancelled.
 */
export type StopOutcome = 'archived' | 'already_archived' | 'superseded' | 'gone' | 'still_failing' | 'rejected';

/** What was seen of archival attempts that failed. The service repeats them by itself. */
export interface FailedArchivals {
  /** When the first failure was seen, as an ISO 8601 time. */
  readonly since: string;
  /** At least so many: those between two looks are not seen. */
  readonly attempts: number;
  /** Error of the last failed attempt; null if unknown. */
  readonly lastError: string | null;
  /** When the last attempt ended; null if unknown. */
  readonly lastAttemptAt: string | null;
}

/** Where a request is, and how it ended. */
export interface StopRequestView {
  /** The caller's id of the request. */
  readonly requestId: string;
  /** The current phase. */
  readonly phase: 'asking' | 'waiting' | 'ended';
  /** Null until it has ended. */
  readonly outcome: StopOutcome | null;
  /** The stop that this very request received. */
  readonly stopId: string | null;
  /** Status of that stop as it was last read. */
  readonly status: string | null;
  /** What was kept of the work; null before the sandbox is archived, and where the service does not say. */
  readonly kept: PreservedWork | null;
  /** Null while no attempt was seen to fail. */
  readonly failed: FailedArchivals | null;
  /** How often the stop was asked for again, because it had vanished from the sandbox without being superseded. */
  readonly askedAgain: number;
  /** The workflow that the sandbox's name belongs to, or null. */
  readonly owner: string | null;
  /** ISO 8601 time. */
  readonly arrivedAt: string;
  /** When the caller stops waiting, as an ISO 8601 time. */
  readonly deadlineAt: string;
  /** When the alert was sent; null if it was not. */
  readonly alertedAt: string | null;
  /** ISO 8601 time; null until the request has ended. */
  readonly endedAt: string | null;
  /** Why it does not go on by itself, or null. */
  readonly blocked: JobProgress['blocked'];
  /** Why the request failed; null if it did not. */
  readonly error: JobError | null;
}

/** Result of the workflow, and answer of its query. */
export interface StopReport {
  /** Id of the sandbox. */
  readonly sandboxId: string;
  /** Oldest first; of those that have ended, the newest 200. */
  readonly requests: readonly StopRequestView[];
  /** The newest 20. */
  readonly wakes: readonly Wake[];
  /** Calls to the service. */
  readonly apiCalls: number;
}

/** A request as it is carried through continue-as-new. */
export interface StopRecord {
  /** Without its `notify` once it has ended. */
  request: StopRequest;
  readonly arrivedAtMs: number;
  outcome: StopOutcome | null;
  stopId: string | null;
  status: string | null;
  kept: PreservedWork | null;
  failed: FailedArchivals | null;
  askedAgain: number;
  owner: string | null;
  alertedAtMs: number | null;
  endedAtMs: number | null;
  blocked: JobProgress['blocked'];
  error: JobError | null;
  /** What was there before the first request that may have been accepted; null where there was none. */
  asked: { readonly previousStopId: string | null } | null;
}

export interface StopInput {
  readonly sandboxId: string;
  readonly timing?: Partial<JobTiming>;
  /** A run whose history is longer goes on as a new one. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
  /** A run that has taken more updates, or signals, goes on as a new one. Default: 1,000 and 5,000. */
  readonly maxMessages?: number;
  /** What an earlier run of the chain hands on. */
  readonly carried?: {
    readonly records: readonly StopRecord[];
    readonly wakes: readonly Wake[];
    readonly apiCalls: number;
  };
}
