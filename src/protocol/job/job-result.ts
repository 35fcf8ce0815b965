/** The result of a `createThenPrompt` job. Types only. */
import type { PreservedWork } from '../../contract/workflow-safe/preserved-work.js';
import type { DegradedSandbox } from '../../contract/workflow-safe/sandbox-view.js';
import type { FailureClass } from '../result-error-codes.js';
import type { CollectedDiff } from './diff.js';
import type { EnteredPhase } from './job-phases.js';

/**
 * - `completed`: every prompt completed, and the checks, if there are any, passed.
 * - `unverified`: every prompt completed, and a check still failed after the last round, or could not start.
 * - `prompt_failed`: a prompt failed, or somebody else interrupted it.
 * - `sandbox_failed`: the sandbox or its setup failed, or somebody stopped or deleted the sandbox while the job ran.
 * - `sandbox_cancelled`: the service found no machine, in any generation.
 * - `rejected`: the service refused a call permanently.
 * - `deadline_exceeded`, `cancelled`: the job was ended from outside.
 * - `outcome_unknown`: the outcome of a call is unknown, and the decision was not to repeat it.
 */
export type JobOutcome =
  | 'completed'
  | 'unverified'
  | 'prompt_failed'
  | 'sandbox_failed'
  | 'sandbox_cancelled'
  | 'rejected'
  | 'deadline_exceeded'
  | 'cancelled'
  | 'outcome_unknown';

/** The result of one prompt. */
export interface PromptResult {
  /** The full text, or its beginning if `promptRef` is set or the job has many prompts. */
  readonly prompt: string;
  /** Reference of the full prompt in the result store, if it was given by reference. */
  readonly promptRef: string | null;
  /** Id of the prompt at the service; null if unknown. */
  readonly promptId: string | null;
  /** Id of its conversation at the service; null if unknown. */
  readonly conversationId: string | null;
  /** A status of the service; `not_sent` if the job ended before the prompt; or `unknown`. */
  readonly status: string;
  /** The answer of the agent; null if there is none. */
  readonly result: string | null;
  /** Reference of the full result in the result store, if it is long; `result` is then its beginning. */
  readonly resultRef: string | null;
  /** Why the prompt failed; null if it did not. */
  readonly error: string | null;
  /** When the service queued the prompt; null if unknown. */
  readonly queuedAt: string | null;
  /** When the prompt started; null if it has not started, or if the time is unknown. */
  readonly startedAt: string | null;
  /** When the prompt ended; null if it has not ended, or if the time is unknown. */
  readonly endedAt: string | null;
  /** What of the prompt could not be read, although it has ended or was accepted. Absent if nothing is lacking. */
  readonly note?: string;
}

/** How a check, or a command after the work, ran. */
export interface CheckRun {
  /** The beginning of the command. */
  readonly command: string;
  /** Null if the command did not exit by itself, or if nobody knows how it ended. */
  readonly exitCode: number | null;
  /** The end of both outputs, without what only a terminal needs. */
  readonly output: string;
  /** From its first start to its answer, in ms. */
  readonly durationMs: number;
}

/** The checks of a job after the agent worked. */
export interface CheckRound {
  /** From 1; 0 before the first prompt. */
  readonly round: number;
  /** True if every check exited with 0. */
  readonly passed: boolean;
  /** In the order of the checks. */
  readonly runs: readonly CheckRun[];
  /** Place in `prompts` of the prompt that told the agent of the failure, from 0; null if none did. */
  readonly promptIndex: number | null;
}

/** The result of the stop at the end of a job. */
export interface StopResult {
  /** Id of the stop at the service; null if unknown. */
  readonly stopId: string | null;
  /** Last known status of the stop. */
  readonly status: string;
  /** What the snapshot preserved; null if unknown. */
  readonly kept: PreservedWork | null;
  /** Why the stop failed; null if it did not. */
  readonly error: string | null;
}

/** The result of the deletion at the end of a job. */
export interface DeletionResult {
  /** Id of the deletion at the service; null if unknown. */
  readonly operationId: string | null;
  /** Last known status of the deletion. */
  readonly status: string;
  /** Why the deletion failed; null if it did not. */
  readonly error: string | null;
}

/** A file that a job collected from its sandbox. */
export interface CollectedFile {
  /** Path in the sandbox. */
  readonly path: string;
  /** Size in bytes; null if the file was not collected. */
  readonly size: number | null;
  /** SHA-256 of the content in hex; null if the file was not collected. */
  readonly sha256: string | null;
  /** Reference in the result store. */
  readonly ref: string | null;
  /** Why the file was not collected; null if it was. */
  readonly error: string | null;
  /** The service said that there was no such file. Absent: there was one, or it is unknown. */
  readonly missing?: true;
  /** True if the job was cut short before the file was collected: its content may be incomplete. */
  readonly partial: boolean;
  /** True if the job did not change the file; null if unknown. */
  readonly unchanged: boolean | null;
  /** Only for the patch of a git repository (`collectDiff`). */
  readonly diff?: CollectedDiff;
}

/**
 * A sandbox, prompt or command that a job could not interrupt, stop, delete or find again, or a sandbox that it did not
 * delete because a file could not be collected. A person must look after it.
 */
export interface LeftBehind {
  /**
   * `sandbox`: a machine that may be running. `prompt`, `command`: work that may still run in a sandbox that remains.
   */
  readonly kind: 'sandbox' | 'prompt' | 'command';
  /** Null if only the name is known. */
  readonly sandboxId: string | null;
  /** Name of the sandbox; null if unknown. */
  readonly sandboxName: string | null;
  /** The conversation of a prompt, if known. */
  readonly conversationId: string | null;
  /** One sentence: what is unknown or was not done. */
  readonly why: string;
}

/** Why a job, item, stop or cleanup failed. */
export interface JobError {
  /** Stable, for programs: a code of the service or of sandflow (docs/errors.md). */
  readonly code: string;
  /** What is wrong and how to fix it; holds no secret. */
  readonly message: string;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Request id of the response (`req_…`), for support; null if there is none. */
  readonly requestId: string | null;
  /** `error.details` of the response; null if there are none. */
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** The result of the `createThenPrompt` workflow. */
export interface JobResult {
  readonly jobId: string;
  readonly outcome: JobOutcome;
  /** Whose failure it is (docs/errors.md); null if it completed. Absent in results of earlier versions. */
  readonly failureClass?: FailureClass | null;
  /** Id of the newest sandbox; null if there was none. */
  readonly sandboxId: string | null;
  /** Name of the newest sandbox; null if there was none. */
  readonly sandboxName: string | null;
  /** One entry per prompt, in order. */
  readonly prompts: readonly PromptResult[];
  /** The rounds of checks, in order; absent without checks. */
  readonly rounds?: readonly CheckRound[];
  /** How the commands that follow proven work ran; absent if none was begun. */
  readonly after?: readonly CheckRun[];
  /** How the commands of every end ran, as far as their time sufficed; absent if none was begun. */
  readonly always?: readonly CheckRun[];
  /** Null without a setup script. */
  readonly setup: { readonly status: string; readonly error: string | null } | null;
  /** Null if the sandbox was not stopped. */
  readonly stop: StopResult | null;
  /** Null if the sandbox was not deleted. */
  readonly deletion: DeletionResult | null;
  /** One entry per file to collect, and one for the patch if the job collects one. */
  readonly files: readonly CollectedFile[];
  /** Set if the service reported the sandbox as alive but not fully reachable, even if the sandbox recovered later. */
  readonly degraded: DegradedSandbox | null;
  /** Empty if nothing was left running. Independent of the outcome. */
  readonly left: readonly LeftBehind[];
  /** The newest 200 wakes. */
  readonly wakes: readonly Wake[];
  readonly wakeCount: number;
  /** The newest 100 phases, oldest first. */
  readonly phases: readonly EnteredPhase[];
  /**
   * Number of calls to the service by this job's own steps, counting every attempt. It does not include polls that
   * several jobs share, attempts before a cancel, or calls of a worker that was killed before it reported them.
   */
  readonly apiCalls: number;
  /** From start to end, in ms. */
  readonly durationMs: number;
  /** Why the job failed; null if it did not. */
  readonly error: JobError | null;
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
