/** The progress of a `createThenPrompt` job. Types only. */
import type { DegradedSandbox } from '../../contract/workflow-safe/sandbox-view.js';
import type { EnteredPhase, JobPhase } from './job-phases.js';
import type { CheckRound, JobOutcome, PromptResult, Wake } from './job-result.js';

/** When a job reached each step with its newest sandbox, as ISO 8601 times; null if it did not get there. */
export interface JobTimes {
  readonly startedAt: string;
  /** When the sandbox was created or forked; null for a sandbox that the job did not create. */
  readonly createdAt: string | null;
  readonly usableAt: string | null;
  /** When the first prompt was sent. */
  readonly promptedAt: string | null;
  /** When the last prompt ended. */
  readonly answeredAt: string | null;
  /** When the job began to end its sandbox. */
  readonly endingAt: string | null;
  /** When the sandbox had ended as requested. */
  readonly endedAt: string | null;
}

/** An auto-stop that the job could not renew. */
export interface UnrenewedAutoStop {
  /** When the first of these renewals failed, as an ISO 8601 time. */
  readonly since: string;
  /** When the sandbox stops by itself, as an ISO 8601 time; null if unknown. */
  readonly stopsAt: string | null;
  /** Why the latest renewal failed. */
  readonly message: string;
}

/** A stop whose end a job waits for: before it resumes the sandbox, or at its own end. */
export interface AwaitedStop {
  readonly stopId: string;
  /** `pending` or `failing`, or a status that is not listed. */
  readonly status: string;
  /** Why the last attempt failed; null if it did not. */
  readonly error: string | null;
}

/** Result of the progress query. */
export interface JobProgress {
  readonly jobId: string;
  readonly phase: JobPhase;
  /** When the job entered this phase. */
  readonly since: string;
  /** The newest 100 phases, oldest first. */
  readonly phases: readonly EnteredPhase[];
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
  /** Set while the job waits until the sandbox is archived and the stop is known; absent or null otherwise. */
  readonly awaitedStop?: AwaitedStop | null;
  /** Set while the job cannot renew the auto-stop of its sandbox; absent or null otherwise. */
  readonly autoStop?: UnrenewedAutoStop | null;
  /** Why the job ends before its work was done; absent or null if it does not. */
  readonly cutShort?: 'cancelled' | 'deadline_exceeded' | null;
  /**
   * When the job ends at the latest, whatever it still waits for, as an ISO 8601 time; absent or null until its cleanup
   * has begun.
   */
  readonly cleanUpEndsAt?: string | null;
  /** One entry per prompt so far, in order. */
  readonly prompts: readonly PromptResult[];
  /** The rounds of checks so far, in order; absent without checks. */
  readonly rounds?: readonly CheckRound[];
  /** How many rounds the job may have; absent without checks. */
  readonly maxRounds?: number;
  /** The newest wakes. */
  readonly wakes: readonly Wake[];
  /** Number of calls to the service so far. */
  readonly apiCalls: number;
  /** Hard deadline of the job, as an ISO 8601 time. */
  readonly deadlineAt: string;
  /** Null until the job has ended. */
  readonly outcome: JobOutcome | null;
  /** When the job reached each step. */
  readonly times: JobTimes;
  /** Machine size of the newest sandbox; null if unknown. */
  readonly machineType: string | null;
}
