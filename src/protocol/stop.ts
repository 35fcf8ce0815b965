/** The input, result and progress of a `stopAndAwaitArchive`. Types only. */

import type { PreservedWork } from '../contract/workflow-safe/preserved-work.js';
import type { Escalation, EscalationAction } from './escalation.js';
import type { JobTiming, NotifyTarget } from './job/job-input.js';
import type { JobProgress } from './job/job-progress.js';
import type { JobError, Wake } from './job/job-result.js';

/** One caller's request to stop the sandbox. */
export interface StopRequest {
  /** The caller's own id. A repeated id means the same request, and the first settings remain in effect. */
  readonly requestId: string;
  /** When the caller stops waiting, in ms from the arrival of the request. The service continues the stop. */
  readonly deadlineMs: number;
  /** When to notify that the stop has not ended, in ms from the arrival of the request; null: never. */
  readonly alertAfterMs: number | null;
  /** What to do if the stop goes on failing. Default: nothing; the service repeats the stop. */
  readonly escalate?: Escalation;
  /** Whom to notify of the alert, of the steps of the escalation, of refusals by the service, and of the end. */
  readonly notify?: NotifyTarget;
}

/**
 * - `archived`: the stop that this request received has completed, or the stop after a `resume-and-stop` has.
 *   So has the stop of another request, if this one came before that stop had ended.
 * - `already_archived`: there was nothing to stop, and no other request waited for the last stop when this one came.
 * - `superseded`: somebody resumed the sandbox in the meantime; it is not stopped again.
 * - `gone`: the sandbox does not exist. It is `cancelled`, or reads have answered 404 for longer than they may lag.
 * - `deleted`: the escalation of this request deleted the sandbox.
 * - `still_failing`: the deadline passed before the sandbox was archived.
 * - `rejected`: the service refused permanently.
 * - `cancelled`: the workflow was cancelled. The service continues an accepted stop.
 */
export type StopOutcome =
  | 'archived'
  | 'already_archived'
  | 'superseded'
  | 'gone'
  | 'deleted'
  | 'still_failing'
  | 'rejected'
  | 'cancelled';

/** Observed archival attempts that failed. The service repeats them by itself. */
export interface FailedArchivals {
  /** When the first failure was seen, as an ISO 8601 time. */
  readonly since: string;
  /** Lower bound: failures between two checks are not observed. */
  readonly attempts: number;
  /** Error of the last failed attempt; null if unknown. */
  readonly lastError: string | null;
  /** When the last attempt ended; null if unknown. */
  readonly lastAttemptAt: string | null;
}

/**
 * - `waiting`: not due, or due while no attempt of the stop has failed.
 * - `announced`: the notification was sent, and the step acts or is retried.
 * - `done`: it has acted.
 * - `left`: it has not acted, and will not: `why` says why.
 */
export type EscalationStepState = 'waiting' | 'announced' | 'done' | 'left';

/** One step of the escalation of a request. */
export interface EscalationStepView {
  readonly action: EscalationAction;
  /** When the step is due, in ms after the acceptance of the stop. */
  readonly afterMs: number;
  /** When the step is due, as an ISO 8601 time; null before the stop is accepted, and once the step has ended. */
  readonly dueAt: string | null;
  readonly state: EscalationStepState;
  /** ISO 8601 time; null before. */
  readonly announcedAt: string | null;
  /** When it was done or left, as an ISO 8601 time; null before. */
  readonly endedAt: string | null;
  /** What the step may lose, as far as the sandbox showed it when the step was announced; null if nothing. */
  readonly atRisk: string | null;
  /** Why it was left, or why it has to be retried; null if neither. */
  readonly why: string | null;
  /** Of `resume-and-stop`: the stop that it ended. Otherwise null. */
  readonly endedStopId: string | null;
  /** Of `delete`: the deletion, if the service named it. Otherwise null. */
  readonly operationId: string | null;
}

/** The progress and end of a request. */
export interface StopRequestView {
  /** The caller's id of the request. */
  readonly requestId: string;
  readonly phase: 'asking' | 'waiting' | 'ended';
  /** Null until it has ended. */
  readonly outcome: StopOutcome | null;
  /** The stop that this request received. */
  readonly stopId: string | null;
  /** Status of that stop at the last read. */
  readonly status: string | null;
  /** How much of the work was preserved; null before the sandbox is archived, or if the service does not say. */
  readonly kept: PreservedWork | null;
  /** Of that stop; null while no failed attempt of it was observed. */
  readonly failed: FailedArchivals | null;
  /** The steps of its escalation; empty without one. */
  readonly escalation: readonly EscalationStepView[];
  /** How often the stop was requested again because it vanished from the sandbox without being superseded. */
  readonly askedAgain: number;
  /** The workflow that owns the sandbox's name, or null. */
  readonly owner: string | null;
  /** ISO 8601 time. */
  readonly arrivedAt: string;
  /** When the caller stops waiting, as an ISO 8601 time. */
  readonly deadlineAt: string;
  /** When the alert was sent; null if it was not. */
  readonly alertedAt: string | null;
  /** ISO 8601 time; null until the request has ended. */
  readonly endedAt: string | null;
  /** Why the request cannot continue by itself; null if it can. */
  readonly blocked: JobProgress['blocked'];
  /** Why the request failed; null if it did not. */
  readonly error: JobError | null;
}

/** Result of the workflow and of its query. */
export interface StopReport {
  readonly sandboxId: string;
  /** Oldest first. Of the ended requests, only the newest 200 are included. */
  readonly requests: readonly StopRequestView[];
  /** The newest 20 wakes. */
  readonly wakes: readonly Wake[];
  /** Number of calls to the service. */
  readonly apiCalls: number;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** A step in the state of the workflow. */
export interface EscalationStepRecord
  extends Pick<EscalationStepView, 'action' | 'afterMs'>,
    Writable<Pick<EscalationStepView, 'state' | 'atRisk' | 'why' | 'endedStopId' | 'operationId'>> {
  announcedAtMs: number | null;
  endedAtMs: number | null;
  /** Number of refusals so far. */
  refusals: number;
  /** When a refused step is retried; null if it is not. */
  retryAtMs: number | null;
  /** The state before the first call that may have been accepted; null if there was no such call. */
  sent: { readonly previousStopId: string | null } | null;
}

/** A request in the state of the workflow. */
export interface StopRecord
  extends Writable<Omit<StopRequestView, 'requestId' | 'phase' | 'escalation' | `${string}At`>> {
  /** Without its `notify` once it has ended. */
  request: StopRequest;
  readonly arrivedAtMs: number;
  /** When the stop was requested; null if unknown. An archived sandbox no longer shows this time. */
  requestedAt: string | null;
  alertedAtMs: number | null;
  endedAtMs: number | null;
  /** The state before the first request that may have been accepted; null if there was no such request. */
  asked: { readonly previousStopId: string | null } | null;
  /** Absent without an escalation, as the following fields are. */
  steps?: EscalationStepRecord[];
  /** When the first stop of the request was accepted; the times of the steps count from it. Null before. */
  acceptedAtMs?: number | null;
  /** True if the last read showed that an attempt of the stop has failed. */
  isFailing?: boolean;
  /** What is not saved of the sandbox at the last read; null if nothing is known to be unsaved. */
  unsaved?: string | null;
  /** True after a resume of this workflow, until the next stop is accepted. */
  stopsAgain?: boolean;
  /** True while the sandbox is deleted. */
  isDeleting?: boolean;
}

/** The state that a run of the workflow passes to the next one. */
export interface CarriedStop {
  readonly records: StopRecord[];
  /** The stops that resumes of this workflow have ended, the newest 20; absent if there were none. */
  resumedFrom?: readonly string[];
  wakes: readonly Wake[];
}

export interface StopInput {
  readonly sandboxId: string;
  readonly timing?: Partial<JobTiming>;
  /** History length, in events, after which the workflow continues as new. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
  /** Updates or signals after which the workflow continues as new. Default: 1,000 updates and 5,000 signals. */
  readonly maxMessages?: number;
  /** State of the previous run, if there was one. */
  readonly carried?: CarriedStop;
}
