/** The input and result of a `createThenPrompt` job. Types only. */
import type { MachineType } from '../../src/contract/machine-types.js';
import type { PreservedWork } from '../../src/contract/preserved-work.js';
import type { Text } from '../../src/contract/texts.js';
import type { Wake } from './progress.js';

export type { PreservedWork };

/** Time limits and intervals of a job. `wait-intervals.ts` holds the default of every field; tests shorten them. */
export interface JobTiming {
  /** Delay from the start of a wait to its first safety poll, in ms. */
  readonly safetyPollFirstMs: number;
  /** Factor by which the delay grows after each safety poll. */
  readonly safetyPollGrowth: number;
  /** Longest delay between two safety polls, in ms. */
  readonly safetyPollMaxMs: number;
  /** How long a sandbox in `error` may take to recover before the job fails, in ms. */
  readonly errorGraceMs: number;
  /** How long cleanup may take after the job's deadline or a cancel, in ms. */
  readonly cleanUpMs: number;
  /** How long a read may lag behind a write, in ms. A 404 that lasts longer is final. */
  readonly readLagMs: number;
  /** Lifetime of a lease on somebody else's sandbox without renewal, in ms. */
  readonly leaseLastsMs: number;
  /** Interval between renewals of a lease, in ms. A failed renewal is retried within 15 s. */
  readonly renewLeaseEveryMs: number;
}

/** Where the sandbox comes from. */
export type SandboxSource =
  | {
      readonly kind: 'create';
      /** Request body of the create. The job sets `name` and `ttlSeconds`. `from` names a snapshot. */
      readonly body: {
        readonly environment?: string;
        readonly from?: string;
        readonly noEnv?: boolean;
        readonly setupScript?: Text;
        readonly snapshots?: boolean;
        readonly monitoring?: boolean;
        readonly type?: MachineType;
      };
    }
  | {
      readonly kind: 'existing';
      readonly sandboxId: string;
      /** Machine size for the resume, if the sandbox is archived. */
      readonly type?: MachineType;
    }
  | {
      readonly kind: 'fork';
      /** The source of the fork. */
      readonly sandboxId: string;
      /** Machine size of the fork. Default: the size of its source. */
      readonly type?: MachineType;
    };

/**
 * Ties the idempotency keys and sandbox names of a job to an item of a batch, so that a second run of the same item
 * creates no second fork.
 */
export interface JobOrigin {
  /** Replaces the run id in idempotency keys. */
  readonly key: string;
  /** Replaces this execution in names. */
  readonly execution: string;
  /** Id of the batch; replaces the job's id in names. */
  readonly batchId: string;
  /** The step, as part of names and keys. */
  readonly step: string;
  /** Number of the first generation, from 1. */
  readonly firstGeneration: number;
  /**
   * True if an earlier run of the same item may have forked and prompted. The job then searches for the fork by name
   * before it creates one, and for each prompt in the fork's history before it sends it.
   */
  readonly lookFirst: boolean;
  /** Prefix of the records that the item's runs keep in the result store: see `itemRecords`. Default: no records. */
  readonly records?: string;
}

/** One prompt for the agent. */
export interface PromptStep {
  /** The text of the prompt. */
  readonly prompt: Text;
  /** The harness that runs the prompt. Default: the harness that the user chose at the service. */
  readonly provider?: string;
  /** The model. Default: the user's default for the harness. */
  readonly model?: string;
  /** A reasoning level that the model accepts. Default: the level that the service chooses. */
  readonly reasoningEffort?: 'none' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
}

/** A file to write into the sandbox before the first prompt. */
export interface FilePut {
  /** Path in the sandbox. */
  readonly path: string;
  /** Base64 content (small files), or a reference into the result store. */
  readonly content: { readonly base64: string } | { readonly ref: string };
}

/** What happens to the sandbox at the end of the job. */
export type JobEnd = 'stop' | 'delete' | 'keep';

/** The input of the `createThenPrompt` workflow. */
export interface JobInput {
  /** Name of the deployment; part of the workflow id. */
  readonly deployment: string;
  /** Unique within the deployment; part of the workflow id. */
  readonly jobId: string;
  /** The sandbox to create, fork or reuse. */
  readonly source: SandboxSource;
  /** `hydrated` also waits until every file of the snapshot is on disk. */
  readonly waitFor: 'usable' | 'hydrated';
  /** Files to write before the first prompt. Default: none. */
  readonly put: readonly FilePut[];
  /** Shell commands that run in order, after the files and before the prompts. A non-zero exit fails the job. */
  readonly commands?: readonly Text[];
  /** A job needs at least one prompt or one command. */
  readonly prompts: readonly PromptStep[];
  /** `one`: sequentially, in one conversation. `each`: in parallel, each in its own conversation. */
  readonly conversations: 'one' | 'each';
  /** Paths to collect from the sandbox after the last prompt. */
  readonly collect: readonly string[];
  /** What happens to the sandbox at the end. */
  readonly end: JobEnd;
  /** Hard deadline of the job, in ms from its start; for an item, from its fork. Cleanup runs after it. */
  readonly deadlineMs: number;
  /**
   * Auto-stop of the sandbox, in seconds; renewed while the job runs. It is the last safeguard if Temporal itself is
   * down.
   */
  readonly ttlSeconds: number;
  /** What to do if the outcome of a call is unknown: wait for a person, or decide immediately. */
  readonly onUnknownOutcome: 'wait' | 'abandon' | 'resend';
  /** Total attempts for a create whose sandbox becomes `cancelled`. */
  readonly maxGenerations: number;
  /** Only for items of a batch. */
  readonly origin?: JobOrigin;
  /** History length, in events, after which the job continues as a new run. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
  /** The target of notifications. Default: none. */
  readonly notify?: NotifyTarget;
  /** Overrides of the intervals of the job. Default: none. */
  readonly timing?: Partial<JobTiming>;
}

/** Who is notified when a job ends or is blocked. */
export interface NotifyTarget {
  /** Receives a POST with JSON, signed by Standard Webhooks. */
  readonly url?: string;
  /** Id of a command in the worker's configuration. It receives the same JSON on stdin. */
  readonly commandId?: string;
}

/**
 * - `completed`: every prompt completed.
 * - `prompt_failed`: a prompt failed, or somebody else interrupted it.
 * - `sandbox_failed`: the sandbox or its setup failed, or somebody stopped or deleted the sandbox while the job ran.
 * - `sandbox_cancelled`: the service found no machine, in any generation.
 * - `rejected`: the service refused a call permanently.
 * - `deadline_exceeded`, `cancelled`: the job was ended from outside.
 * - `outcome_unknown`: the outcome of a call is unknown, and the decision was not to repeat it.
 */
export type JobOutcome =
  | 'completed'
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
  /** True if the job was cut short before the file was collected: its content may be incomplete. */
  readonly partial: boolean;
  /** True if the job did not change the file; null if unknown. */
  readonly unchanged: boolean | null;
}

/** Something that a job could not interrupt, stop, delete or find again. It needs a person's attention. */
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
  /** Id of the job. */
  readonly jobId: string;
  /** How the job ended. */
  readonly outcome: JobOutcome;
  /** Id of the newest sandbox; null if there was none. */
  readonly sandboxId: string | null;
  /** Name of the newest sandbox; null if there was none. */
  readonly sandboxName: string | null;
  /** One entry per prompt, in order. */
  readonly prompts: readonly PromptResult[];
  /** Null without a setup script. */
  readonly setup: { readonly status: string; readonly error: string | null } | null;
  /** Null if the sandbox was not stopped. */
  readonly stop: StopResult | null;
  /** Null if the sandbox was not deleted. */
  readonly deletion: DeletionResult | null;
  /** One entry per file to collect. */
  readonly files: readonly CollectedFile[];
  /** Empty if nothing needs attention, whatever the outcome. */
  readonly left: readonly LeftBehind[];
  /** The newest 200 wakes. */
  readonly wakes: readonly Wake[];
  /** Total number of wakes. */
  readonly wakeCount: number;
  /**
   * Number of calls to the service by this job's own steps, including every attempt. Excludes the reads that all
   * follows of a worker share, and the calls of an attempt whose worker was killed before it reported them.
   */
  readonly apiCalls: number;
  /** From start to end, in ms. */
  readonly durationMs: number;
  /** Why the job failed; null if it did not. */
  readonly error: JobError | null;
}
