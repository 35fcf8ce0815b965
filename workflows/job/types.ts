/** What goes into a `createThenPrompt` job and what comes out of it. Types only. */
import type { PreservedWork } from '../../src/contract/preserved-work.js';
import type { Text } from '../../src/contract/texts.js';

export type { PreservedWork };

/** How long things may take. Every field has a default in `timing.ts`; tests shorten them. */
export interface JobTiming {
  /** First safety poll after a wait began, in ms. */
  readonly safetyPollFirstMs: number;
  /** Each next safety poll comes this many times later … */
  readonly safetyPollGrowth: number;
  /** … up to this, in ms. */
  readonly safetyPollMaxMs: number;
  /** How long a sandbox in `error` may take to recover before the job fails, in ms. */
  readonly errorGraceMs: number;
  /** How long the clean-up may take after the job's own deadline or a cancel, in ms. */
  readonly cleanUpMs: number;
  /** How long a read may lag behind a write, in ms: a 404 that lasts longer is believed. */
  readonly readLagMs: number;
  /** A lease on a sandbox of others that is not renewed lasts for so long, in ms. */
  readonly leaseLastsMs: number;
  /** How often it is renewed, in ms. One that fails is tried again within 15 s. */
  readonly renewLeaseEveryMs: number;
}

/** Where the sandbox comes from. */
export type SandboxSource =
  | {
      readonly kind: 'create';
      /** Body of the create, without `name` and `ttlSeconds`, which the job sets. `from` names a snapshot. */
      readonly body: {
        readonly environment?: string;
        readonly from?: string;
        readonly noEnv?: boolean;
        readonly setupScript?: Text;
        readonly snapshots?: boolean;
        readonly monitoring?: boolean;
        readonly type?: 'small' | 'default' | 'large' | 'xlarge';
      };
    }
  | {
      readonly kind: 'existing';
      readonly sandboxId: string;
      /** Machine size to resume on, when it is archived. */
      readonly type?: 'small' | 'default' | 'large' | 'xlarge';
    }
  | {
      readonly kind: 'fork';
      /** What is forked. */
      readonly sandboxId: string;
      /** Machine size of the fork; else that of its source. */
      readonly type?: 'small' | 'default' | 'large' | 'xlarge';
    };

/**
 * Makes the keys and names of a job's sandboxes those of an item of a batch, so that a second run of the same item makes
 * no second fork.
 */
export interface JobOrigin {
  /** Takes the place of the run id in idempotency keys. */
  readonly key: string;
  /** Takes the place of this execution in names. */
  readonly execution: string;
  /** Takes the place of the job's id in names: the batch's. */
  readonly batchId: string;
  /** The step in names and keys. */
  readonly step: string;
  readonly firstGeneration: number;
  /**
   * True where an earlier run of the same item may have forked and prompted: its fork is looked for by name before one
   * is made, and each prompt in the fork's history before it is sent.
   */
  readonly lookFirst: boolean;
  /** Prefix of what the item's runs remember in the result store: see `itemRecords`. Default: they remember nothing. */
  readonly records?: string;
}

/** One prompt for the agent. */
export interface PromptStep {
  readonly prompt: Text;
  readonly provider?: string;
  readonly model?: string;
  readonly reasoningEffort?: 'none' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
}

/** A file to write into the sandbox before the first prompt. */
export interface FilePut {
  readonly path: string;
  /** The content itself, base64 (small files), or the reference of one in the result store. */
  readonly content: { readonly base64: string } | { readonly ref: string };
}

export type JobEnd = 'stop' | 'delete' | 'keep';

export interface JobInput {
  readonly deployment: string;
  readonly jobId: string;
  readonly source: SandboxSource;
  /** `hydrated` waits until every file of the snapshot is on disk. */
  readonly waitFor: 'usable' | 'hydrated';
  readonly put: readonly FilePut[];
  /** Run in order after the files and before the prompts; one that does not exit with 0 fails the job. */
  readonly commands?: readonly Text[];
  /** At least one, or at least one command. */
  readonly prompts: readonly PromptStep[];
  /** `one`: in order in one conversation. `each`: side by side, a conversation each. */
  readonly conversations: 'one' | 'each';
  /** Paths to collect from the sandbox after the last prompt. */
  readonly collect: readonly string[];
  /** What happens to the sandbox at the end. */
  readonly end: JobEnd;
  /** Hard deadline of the whole job, in ms from its start; of an item, from its fork. Clean-up comes after it. */
  readonly deadlineMs: number;
  /** Auto-stop of the sandbox, in seconds; renewed while the job works. The last guard when even Temporal is gone. */
  readonly ttlSeconds: number;
  /** What to do when nobody can know whether a call took effect: wait for a person, or decide at once. */
  readonly onUnknownOutcome: 'wait' | 'abandon' | 'resend';
  /** How often a create that became `cancelled` is tried, in all. */
  readonly maxGenerations: number;
  /** Only for items of a batch. */
  readonly origin?: JobOrigin;
  /** A run whose history is longer goes on as a new one. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
  readonly notify?: NotifyTarget;
  readonly timing?: Partial<JobTiming>;
}

/** Who is told that a job ended or is blocked. */
export interface NotifyTarget {
  /** Gets a POST with JSON, signed by Standard Webhooks. */
  readonly url?: string;
  /** Names a command of the worker's own configuration, which gets the same JSON on stdin. */
  readonly commandId?: string;
}

/**
 * - `completed`: every prompt completed.
 * - `prompt_failed`: a prompt failed or was interrupted by somebody else.
 * - `sandbox_failed`: the sandbox or its setup failed, or it was stopped or deleted under the job.
 * - `sandbox_cancelled`: the service found no machine, in any generation.
 * - `rejected`: the service refused a call for good.
 * - `deadline_exceeded`, `cancelled`: the job was ended from outside.
 * - `outcome_unknown`: nobody can know whether a call took effect, and it was decided not to repeat it.
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

export interface PromptResult {
  /** The whole, or how it begins where `promptRef` names the whole or the job has many. */
  readonly prompt: string;
  /** Where the whole prompt is kept when it was given by reference. */
  readonly promptRef: string | null;
  readonly promptId: string | null;
  readonly conversationId: string | null;
  /** A status of the service, or `not_sent` where the job ended before it, or `unknown`. */
  readonly status: string;
  readonly result: string | null;
  /** Where the whole result is kept when it is long; `result` is then how it begins. */
  readonly resultRef: string | null;
  readonly error: string | null;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

export interface StopResult {
  readonly stopId: string | null;
  readonly status: string;
  readonly kept: PreservedWork | null;
  readonly error: string | null;
}

export interface DeletionResult {
  readonly operationId: string | null;
  readonly status: string;
  readonly error: string | null;
}

export interface CollectedFile {
  readonly path: string;
  readonly size: number | null;
  readonly sha256: string | null;
  /** Reference in the result store. */
  readonly ref: string | null;
  readonly error: string | null;
  /** True where the job did not come to its own end before the file was collected: its content may be unfinished. */
  readonly partial: boolean;
  /** True where the job did not change the file; null where that is not known. */
  readonly unchanged: boolean | null;
}

/** What a job could not interrupt, stop, delete or find again. Somebody has to look after it. */
export interface LeftBehind {
  /** `sandbox`: a machine that may run. `prompt`, `command`: what may be at work in a sandbox that stays. */
  readonly kind: 'sandbox' | 'prompt' | 'command';
  /** Null where only the name is known. */
  readonly sandboxId: string | null;
  readonly sandboxName: string | null;
  /** Of a prompt, where it is known. */
  readonly conversationId: string | null;
  /** One sentence: what is not known, or was not done. */
  readonly why: string;
}

/** What woke a wait. */
export interface Wake {
  /** What was waited for, such as `usable` or `archived`. */
  readonly waitedFor: string;
  readonly by: 'webhook' | 'safety_poll' | 'deadline';
  /** The event that woke it; null for a timer. */
  readonly event: string | null;
  /** From the creation of the event to the moment that the workflow saw it; null for a timer. */
  readonly lagMs: number | null;
  readonly waitedMs: number;
  readonly at: string;
}

export interface JobError {
  readonly code: string;
  readonly message: string;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

export interface JobResult {
  readonly jobId: string;
  readonly outcome: JobOutcome;
  readonly sandboxId: string | null;
  readonly sandboxName: string | null;
  readonly prompts: readonly PromptResult[];
  /** Null without a setup script. */
  readonly setup: { readonly status: string; readonly error: string | null } | null;
  /** Null when the sandbox was not stopped. */
  readonly stop: StopResult | null;
  /** Null when the sandbox was not deleted. */
  readonly deletion: DeletionResult | null;
  readonly files: readonly CollectedFile[];
  /** Empty where nothing is left to look after, whatever the outcome. */
  readonly left: readonly LeftBehind[];
  /** The newest 200. */
  readonly wakes: readonly Wake[];
  /** How many there were in all. */
  readonly wakeCount: number;
  /**
   * Calls to the service that this job's own steps made, every attempt counted. Not among them: the reads that all follows
   * of a worker share, and calls of an attempt whose worker was killed before it could say how many it had made.
   */
  readonly apiCalls: number;
  readonly durationMs: number;
  readonly error: JobError | null;
}

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

/** Answer of the progress query. */
export interface JobProgress {
  readonly jobId: string;
  readonly phase: JobPhase;
  /** Since when it is in this phase. */
  readonly since: string;
  /** Why it does not go on by itself, or null. */
  readonly blocked: {
    readonly reason: 'outcome_unknown' | 'service_refuses';
    /** The step that is blocked: `create`, `prompt` or `command` where a decision is waited for. */
    readonly step: string;
    readonly message: string;
    readonly since: string;
  } | null;
  readonly sandboxId: string | null;
  readonly prompts: readonly PromptResult[];
  readonly wakes: readonly Wake[];
  readonly apiCalls: number;
  readonly deadlineAt: string;
  /** Null until the job has ended. */
  readonly outcome: JobOutcome | null;
}
