/** What goes into a `retentionCleanup` and what comes out of it. Types only. */
import type { CleanupPlan, CleanupPolicy, ExpiryWarning, PlanEntry } from '../../src/retention/index.js';
import type { JobError, JobProgress } from '../job/types.js';

/** How it goes about it. Every field has a default in `defaults.ts`; tests change them. */
export interface CleanupSettings {
  /**
   * How long a run waits, once it has planned, before it looks for other runs of the same night, in ms: Temporal shows
   * runs that have just begun with a delay.
   */
  readonly settleMs: number;
  /** How long making the plan may take, with all refusals that are waited out, in ms. */
  readonly planDeadlineMs: number;
  /** How many sandboxes are worked on at once. */
  readonly concurrency: number;
  /** How many actions are reported together, as one object of the result store. */
  readonly chunkSize: number;
  /** How long one action may take, from its first call to its confirmation, in ms. */
  readonly actionDeadlineMs: number;
  /** How often a deletion that failed is asked for, in all. */
  readonly deletionAttempts: number;
  /** The first look at a stop or deletion that is under way, in ms; then twice as long, up to … */
  readonly lookFirstMs: number;
  /** … this, in ms. */
  readonly lookMaxMs: number;
  /** How long a read may lag behind a write, in ms: what is missing for longer is gone. */
  readonly readLagMs: number;
  /** A run whose history is longer goes on as a new one, in events. Default: when Temporal suggests it. */
  readonly maxHistoryEvents: number | null;
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
  /** What an earlier run of the chain hands on. */
  readonly carried?: CleanupCarried;
}

/** State that a cleanup hands to its next run when it continues as new. */
export interface CleanupCarried {
  /** When the first run of the chain started, as an ISO 8601 time. */
  readonly startedAt: string;
  /** The plan's totals; the plan is not made again. */
  readonly planned: CleanupPlanned;
  /** Index of the first chunk that is not applied, from 0. */
  readonly nextChunk: number;
  /** Number of actions so far, by outcome. */
  readonly counts: CleanupCounts;
  /** References to the reported chunks in the result store. */
  readonly resultRefs: readonly string[];
  /** Number of calls to the service so far. */
  readonly apiCalls: number;
}

/** What the plan came to. The plan itself is in the result store: of a large fleet it is larger than a payload may be. */
export interface CleanupPlanned {
  /** Reference to the plan in the result store. */
  readonly planRef: string;
  /** The actions, in pieces. */
  readonly chunks: readonly { readonly ref: string; readonly count: number }[];
  /** Number of sandboxes of the account. */
  readonly fleet: number;
  /** Number of actions that the limits allow now. */
  readonly allowed: number;
  /** Number of actions that earlier runs took in the same night. */
  readonly takenTonight: number;
  /** Number of planned actions. */
  readonly due: number;
  /** Number of actions that the limits leave for a later night. */
  readonly overLimit: number;
  /** Sandboxes of closed jobs of this deployment. */
  readonly orphans: number;
  /** Sandboxes whose owner Temporal does not know: left alone, and worth a look. */
  readonly unknownOwners: number;
  /** Rows of the service's list that could not be read: what they stand for is left alone, and not in the plan. */
  readonly unreadable: number;
  /** The soonest 50. */
  readonly warnings: readonly ExpiryWarning[];
  /** Total number of warnings. */
  readonly warningCount: number;
  /** Why nothing may be done now, or null. */
  readonly refusal: { readonly outcome: 'outside_window' | 'another_run'; readonly why: string } | null;
}

/**
 * - `stopped`, `deleted`: done, and confirmed by the stop's or the deletion's own record.
 * - `gone`: there was nothing to delete any more when a call was repeated whose answer was lost. Counts as done.
 * - `skipped`: a guard refused; `guard` says which one.
 * - `failed`: the service refused or failed, also when it was tried again.
 * - `not_confirmed`: accepted, but not seen to be finished in time. The service goes on with it.
 * - `not_reached`: the cleanup was cancelled before it.
 */
export type ActionOutcome = 'stopped' | 'deleted' | 'gone' | 'skipped' | 'failed' | 'not_confirmed' | 'not_reached';

/** The result of one action of a plan. */
export interface ActionResult {
  /** Number of the action in the plan. */
  readonly number: number;
  /** How the action ended. */
  readonly outcome: ActionOutcome;
  /** The guard that refused the action; null if none did. */
  readonly guard: string | null;
  /** The reason, in one sentence; null if there is none. */
  readonly why: string | null;
  /** The stop or the deletion operation. */
  readonly operationId: string | null;
}

/** Number of actions by outcome. */
export type CleanupCounts = Readonly<Record<ActionOutcome, number>>;

/**
 * - `planned`: a dry run.
 * - `applied`: everything that was due has been tried; the counts say how it went.
 * - `outside_window`, `another_run`: nothing was done, and why.
 * - `cancelled`: it was cut short.
 * - `failed`: no plan could be made in time, or the results could not be kept.
 */
export type CleanupOutcome = 'planned' | 'applied' | 'outside_window' | 'another_run' | 'cancelled' | 'failed';

/** The result of the workflow. */
export interface CleanupSummary {
  /** Workflow id. */
  readonly workflowId: string;
  /** Name of the policy. */
  readonly policy: string;
  /** How the cleanup ended. */
  readonly outcome: CleanupOutcome;
  /** ISO 8601 time. */
  readonly startedAt: string;
  /** ISO 8601 time. */
  readonly endedAt: string;
  /** Null where no plan could be made. */
  readonly planned: Omit<CleanupPlanned, 'chunks'> | null;
  /** Number of actions by outcome. */
  readonly counts: CleanupCounts;
  /** In the result store; null where there is none. */
  readonly reportRef: string | null;
  /** Calls to the service. */
  readonly apiCalls: number;
  /** Why the cleanup failed; null if it did not. */
  readonly error: JobError | null;
}

/** One sandbox of the report: what was planned, and what became of it. */
export interface ReportEntry extends PlanEntry {
  /** One for each action that was planned; a sandbox may have several snapshots to delete. */
  readonly results: readonly ActionResult[];
}

/** What a cleanup leaves behind. */
export interface CleanupReport {
  /** The result of the workflow. */
  readonly summary: CleanupSummary;
  /** Null where no plan could be made. */
  readonly plan: (Omit<CleanupPlan, 'entries' | 'actions'> & { readonly entries: readonly ReportEntry[] }) | null;
}

/** What the memo of a run holds, for lists and for the limit of the night. */
export interface CleanupMemo {
  /** Name of the policy. */
  readonly policy: string;
  /** `plan` changes nothing; `apply` acts. */
  readonly mode: CleanupInput['mode'];
  /** Actions that it has done or is about to do. */
  readonly acted: number;
  /** Sandboxes that there were when it was planned; null before. */
  readonly fleet: number | null;
}

/** Answer of the progress query. */
export interface CleanupProgress {
  /** The current phase. */
  readonly phase: 'planning' | 'applying' | 'reporting' | 'ended';
  /** Null before the plan is there. */
  readonly due: number | null;
  /** Number of actions so far, by outcome. */
  readonly counts: CleanupCounts;
  /** Why it does not go on by itself, or null. */
  readonly blocked: JobProgress['blocked'];
}
