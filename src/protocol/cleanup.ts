/** The input, result and progress of a `retentionCleanup`. Types only. */
import type { CleanupPlan, ExpiryWarning, PlanEntry, PolicyPattern } from './cleanup-plan.js';
import type { CleanupPolicy } from './cleanup-policy.js';
import type { JobTiming } from './job/job-input.js';
import type { JobProgress } from './job/job-progress.js';
import type { JobError } from './job/job-result.js';

/** Settings of a cleanup. `cleanup-state.ts` holds the default of every field; tests change them. */
export interface CleanupSettings {
  /**
   * How long a run waits after planning before it searches for other runs of the same night, in ms: Temporal lists new
   * runs with a delay.
   */
  readonly settleMs: number;
  /** Time limit for the plan, including waits for refusals, in ms. */
  readonly planDeadlineMs: number;
  /** Number of actions that run concurrently. */
  readonly concurrency: number;
  /** Number of actions whose results are stored together, as one object of the result store. */
  readonly chunkSize: number;
  /** Time limit of one action, from its first call to its confirmation, in ms. */
  readonly actionDeadlineMs: number;
  /** Total attempts for a deletion that fails. */
  readonly deletionAttempts: number;
  /** Overrides of the intervals of polls, and of how long a read may lag behind a write. Default: those of a job. */
  readonly timing: Partial<JobTiming>;
  /** History length, in events, after which the cleanup continues as new. Default: when Temporal suggests it. */
  readonly maxHistoryEvents: number | null;
}

/** What a removal of forgotten results did or, in a dry run, would do. */
export interface ResultRemoval {
  /** Number of folders of jobs and batches of this deployment in the result store. */
  readonly folders: number;
  /** How many of these were removed; what follows counts their objects. */
  readonly removed: number;
  readonly objects: number;
  readonly bytes: number;
  /** Why nothing, or not everything that was due, was removed; null without a problem. */
  readonly problem: string | null;
}

/** The input of the `retentionCleanup` workflow. */
export interface CleanupInput {
  /** Name of the deployment whose jobs and sandboxes the cleanup may act on. */
  readonly deployment: string;
  /** The validated policy; see `readPolicy`. */
  readonly policy: CleanupPolicy;
  /** `plan` changes nothing. */
  readonly mode: 'plan' | 'apply';
  /** Overrides of the default settings. Default: none. */
  readonly settings?: Partial<CleanupSettings>;
  /** State of the previous run, if there was one. */
  readonly carried?: CarriedCleanup;
}

/** The state that a run of a cleanup passes to the next one. */
export interface CarriedCleanup {
  /** When the first run of the chain started, as an ISO 8601 time. */
  readonly startedAt: string;
  /** The plan's totals; the plan is not created again. Null until it exists. */
  planned: CleanupPlanned | null;
  /** Index of the first chunk that is not applied, from 0. */
  nextChunk: number;
  /** Number of actions so far, by outcome. */
  counts: CleanupCounts;
  /** References to the reported chunks in the result store. */
  resultRefs: readonly string[];
}

/** Summary of the plan. The plan itself is in the result store: for a large fleet it exceeds the size of a payload. */
export interface CleanupPlanned {
  /** Reference to the plan in the result store. */
  readonly planRef: string;
  /** References of the actions, in chunks. */
  readonly chunks: readonly { readonly ref: string; readonly count: number }[];
  /** Number of sandboxes of the account. */
  readonly fleet: number;
  /** Number of actions that the limits allow now. */
  readonly allowed: number;
  /** Number of actions that earlier runs took in the same night. */
  readonly takenTonight: number;
  /** Number of planned actions. */
  readonly due: number;
  /** Number of planned actions that exceed the limits and wait for a later night. */
  readonly overLimit: number;
  /** Why the limits never let anything act on an account of this size, although something is due; null if they do. */
  readonly limitProblem: string | null;
  /** The first 50 patterns of the policy that match nothing in the account. */
  readonly unmatched: readonly PolicyPattern[];
  /** Total number of such patterns. */
  readonly unmatchedCount: number;
  /** Sandboxes of closed jobs of this deployment. */
  readonly orphans: number;
  /** Sandboxes whose owner is unknown: skipped, and worth checking. */
  readonly unknownOwners: number;
  /** Unreadable rows of the service's list: their sandboxes are skipped and not in the plan. */
  readonly unreadable: number;
  /** The 50 warnings with the soonest expiry. */
  readonly warnings: readonly ExpiryWarning[];
  readonly warningCount: number;
  /** Why no action may run now, or null. */
  readonly refusal: {
    readonly outcome: 'outside_window' | 'another_run' | 'protects_nothing';
    readonly why: string;
  } | null;
}

/**
 * - `stopped`, `deleted`: done, and confirmed by the record of the stop or deletion.
 * - `gone`: nothing was left to stop or delete, for example after a call with a lost answer. Counts as done.
 * - `escalating`: the workflow of the sandbox's stops follows its failing stop, and takes the steps of the policy.
 * - `skipped`: a guard refused the action; `guard` names it.
 * - `failed`: the service refused the action, or the action failed even after retries.
 * - `not_confirmed`: accepted, but not confirmed in time. The service continues.
 * - `not_reached`: the cleanup was cancelled before this action.
 */
export type ActionOutcome =
  | 'stopped'
  | 'deleted'
  | 'gone'
  | 'escalating'
  | 'skipped'
  | 'failed'
  | 'not_confirmed'
  | 'not_reached';

/** The result of one action of a plan. */
export interface ActionResult {
  /** Number of the action in the plan. */
  readonly number: number;
  readonly outcome: ActionOutcome;
  /** The guard that refused the action; null if none did. */
  readonly guard: string | null;
  /** The reason, in one sentence; null if there is none. */
  readonly why: string | null;
  /** Id of the stop or of the deletion operation; null if there is none. */
  readonly operationId: string | null;
}

/** Number of actions by outcome. */
export type CleanupCounts = Readonly<Record<ActionOutcome, number>>;

/**
 * - `planned`: a dry run.
 * - `applied`: every due action was attempted; the counts show the results.
 * - `outside_window`, `another_run`: nothing was done, because no window is open or because another run is in progress.
 * - `protects_nothing`: nothing was done, because it would have deleted, and a pattern of `protect` matches nothing.
 * - `cancelled`: the cleanup was cut short.
 * - `failed`: no plan could be created in time, or the results could not be stored.
 */
export type CleanupOutcome =
  | 'planned'
  | 'applied'
  | 'outside_window'
  | 'another_run'
  | 'protects_nothing'
  | 'cancelled'
  | 'failed';

/** The result of the workflow. */
export interface CleanupSummary {
  readonly workflowId: string;
  readonly policy: string;
  readonly outcome: CleanupOutcome;
  /** ISO 8601 time. */
  readonly startedAt: string;
  /** ISO 8601 time. */
  readonly endedAt: string;
  /** Null if no plan was created. */
  readonly planned: Omit<CleanupPlanned, 'chunks'> | null;
  readonly counts: CleanupCounts;
  /**
   * Number of running machines that the policy would have ended, and that still run: over the limit of the night,
   * failed, not confirmed or not reached. Null without a plan, and if the report could not be stored.
   */
  readonly machinesLeft: number | null;
  /** What was done about forgotten results. Undefined if the policy does not ask for it, or the cleanup ended before. */
  readonly results?: ResultRemoval | undefined;
  /** Reference in the result store; null if there is none. */
  readonly reportRef: string | null;
  /** Number of calls to the service. */
  readonly apiCalls: number;
  /** Why the cleanup failed; null if it did not. */
  readonly error: JobError | null;
}

/** One sandbox of the report: its planned actions and their results. */
export interface ReportEntry extends PlanEntry {
  /** One entry per planned action. There may be several, because a sandbox may have several snapshots to delete. */
  readonly results: readonly ActionResult[];
}

/** The stored report of a cleanup. */
export interface CleanupReport {
  readonly summary: CleanupSummary;
  /** Null if no plan was created. */
  readonly plan: (Omit<CleanupPlan, 'entries' | 'actions'> & { readonly entries: readonly ReportEntry[] }) | null;
}

/** The memo of a run, for lists and for the limit per night. */
export interface CleanupMemo {
  readonly policy: string;
  /** `plan` changes nothing; `apply` acts. */
  readonly mode: CleanupInput['mode'];
  /** Number of actions done or about to run. */
  readonly acted: number;
  /** Number of sandboxes at the time of the plan; null before the plan exists. */
  readonly fleet: number | null;
}

/** Result of the progress query. */
export interface CleanupProgress {
  readonly phase: 'planning' | 'applying' | 'reporting' | 'ended';
  /** Null until the plan exists. */
  readonly due: number | null;
  /** Number of actions so far, by outcome. */
  readonly counts: CleanupCounts;
  /** Why the cleanup cannot continue by itself; null if it can. */
  readonly blocked: JobProgress['blocked'];
}
