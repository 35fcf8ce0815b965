/** The progress of a `createThenPrompt` job. Types only. */
import type { DegradedSandbox } from '../../src/contract/sandbox-view.js';
import type { JobOutcome, PromptResult, Wake } from './result.js';

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
  /** Set while the newest read shows that the sandbox is alive but not fully reachable; absent or null otherwise. */
  readonly degraded?: DegradedSandbox | null;
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
