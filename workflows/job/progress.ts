/** The progress of a `createThenPrompt` job. Types only. */
import type { JobOutcome, PromptResult } from './types.js';

/** The phase of a job. */
export type JobPhase =
  | 'creating'
  | 'resuming'
  | 'waiting_for_sandbox'
  | 'waiting_for_setup'
  | 'putting_files'
  | 'running_commands'
  | 'prompting'
  | 'following'
  | 'collecting_files'
  | 'interrupting'
  | 'stopping'
  | 'waiting_for_archive'
  | 'deleting'
  | 'ended';

/** Result of the progress query. */
export interface JobProgress {
  /** Id of the job. */
  readonly jobId: string;
  /** The current phase. */
  readonly phase: JobPhase;
  /** When the job entered this phase. */
  readonly since: string;
  /** Why the job cannot continue by itself; null if it can. */
  readonly blocked: {
    readonly reason: 'outcome_unknown' | 'service_refuses';
    /** The blocked step: `create`, `prompt` or `command` if the job waits for a decision. */
    readonly step: string;
    readonly message: string;
    readonly since: string;
  } | null;
  /** Id of the newest sandbox; null before there is one. */
  readonly sandboxId: string | null;
  /** One entry per prompt so far, in order. */
  readonly prompts: readonly PromptResult[];
  /** The newest wakes. */
  readonly wakes: readonly Wake[];
  /** Number of calls to the service so far. */
  readonly apiCalls: number;
  /** Hard deadline of the job, as an ISO 8601 time. */
  readonly deadlineAt: string;
  /** Null until the job has ended. */
  readonly outcome: JobOutcome | null;
}

/** What woke a wait. */
export interface Wake {
  /** What was waited for, such as `usable` or `archived`. */
  readonly waitedFor: string;
  /** What ended the wait. */
  readonly by: 'webhook' | 'safety_poll' | 'deadline';
  /** The event that woke it; null for a timer. */
  readonly event: string | null;
  /** Time from the creation of the event until the workflow received it, in ms; null for a timer. */
  readonly lagMs: number | null;
  /** Length of the wait in ms. */
  readonly waitedMs: number;
  /** When the workflow woke, as an ISO 8601 time. */
  readonly at: string;
}
