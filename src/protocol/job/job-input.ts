/** The input of a `createThenPrompt` job. Types only. */

import type { MachineType } from '../../contract/workflow-safe/machine-types.js';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { SourceState } from '../../contract/workflow-safe/source-state.js';
import type { Chat } from '../chats.js';
import type { Escalation } from '../escalation.js';
import type { Text } from '../stored-text.js';

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
  /** How long a lease on somebody else's sandbox lasts without a renewal, in ms. */
  readonly leaseLastsMs: number;
  /**
   * Interval between renewals of a lease or a claim, in ms. A claim is renewed at least every 4 minutes. A failed
   * renewal of a lease is retried within 15 s.
   */
  readonly renewLeaseEveryMs: number;
}

/** Where the sandbox comes from. */
export type SandboxSource =
  | {
      readonly kind: 'create';
      /**
       * Request body of the create. The job sets `name` and `ttlSeconds`. `from` names a snapshot. Further fields are
       * sent unchanged.
       */
      readonly body: OtherFields & {
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
  | (OtherFields & {
      readonly kind: 'fork';
      /** The source of the fork. Further fields beside it are sent unchanged. */
      readonly sandboxId: string;
      /** Machine size of the fork. Default: the size of its source. */
      readonly type?: MachineType;
      /** False for a fork without snapshots. Default: the setting of its source. */
      readonly snapshots?: boolean;
      /** False for a fork without monitoring. Default: the setting of its source. */
      readonly monitoring?: boolean;
    });

/**
 * Derives the idempotency keys and sandbox names of a job from the batch that started it. So a second run of the same
 * item creates no second fork.
 */
export interface JobOrigin {
  /** Replaces the run id in idempotency keys. */
  readonly key: string;
  /** Replaces the execution part of sandbox names. */
  readonly execution: string;
  /** Id of the batch; replaces the job's id in names. */
  readonly batchId: string;
  /** The step in sandbox names and idempotency keys. */
  readonly step: string;
  /** Number of the first generation, from 1. */
  readonly firstGeneration: number;
  /**
   * True if an earlier run of the same item may have created a fork and sent prompts. The job then searches for the
   * fork by name before it creates one. It also searches the fork's history for each prompt before it sends the prompt.
   */
  readonly lookFirst: boolean;
  /** Prefix of the records that the item's runs keep in the result store: see `itemRecords`. Default: no records. */
  readonly records?: string;
  /** The state that the sandbox must start from. Default: any. */
  readonly startsFrom?: SourceState;
}

/** One prompt for the agent. Further fields are sent unchanged. */
export interface PromptStep extends OtherFields {
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

/** The input of the `createThenPrompt` workflow. The defaults are those of `startJob`. */
export interface JobInput {
  /** Name of the deployment; part of the workflow id. */
  readonly deployment: string;
  /** Unique within the deployment; part of the workflow id. */
  readonly jobId: string;
  /** The sandbox to create, fork or reuse. Default: a new one. */
  readonly source: SandboxSource;
  /** `hydrated` also waits until every file of the snapshot is on disk. Default: `usable`. */
  readonly waitFor: 'usable' | 'hydrated';
  /** Files to write before the first prompt. Default: none. */
  readonly put: readonly FilePut[];
  /** Shell commands that run in order, after the files and before the prompts. A non-zero exit fails the job. */
  readonly commands?: readonly Text[];
  /** A job needs at least one prompt or one command. Default: none. */
  readonly prompts: readonly PromptStep[];
  /** `one`: sequentially, in one conversation. `each`: in parallel, each in its own conversation. Default: `one`. */
  readonly conversations: 'one' | 'each';
  /** An earlier conversation of an existing sandbox, which the prompts continue. Default: a new conversation. */
  readonly conversationId?: string;
  /** Paths to collect from the sandbox after the last prompt. Default: none. */
  readonly collect: readonly string[];
  /**
   * Folder of a git repository in the sandbox. Its changes since the first prompt are collected as the file
   * `changes.patch`. Default: none.
   */
  readonly collectDiff?: string;
  /** What happens to the sandbox at the end. Default: `keep` for an existing sandbox, otherwise `stop`. */
  readonly end: JobEnd;
  /**
   * Hard deadline of the job, in ms from its start; for an item, from its fork. Cleanup runs after it. Default: 1 hour.
   */
  readonly deadlineMs: number;
  /**
   * Auto-stop of the sandbox, in seconds; renewed while the job runs. If Temporal itself is lost, only the auto-stop
   * ends the sandbox. Null: the sandbox never stops by itself. Default: 30 minutes.
   */
  readonly ttlSeconds: number | null;
  /** What to do if the outcome of a call is unknown: wait for a person, or decide immediately. Default: `wait`. */
  readonly onUnknownOutcome: 'wait' | 'abandon' | 'resend';
  /** Total attempts for a create whose sandbox becomes `cancelled`. Default: 3. */
  readonly maxGenerations: number;
  /** Set by a batch, for its items and for the job that prepares its source. */
  readonly origin?: JobOrigin;
  /**
   * What to do about a stop that has not ended when the job ends: the workflow `sandbox-stop/<sandboxId>` follows it and
   * takes these steps. Default: nothing, and the result names the sandbox in `left`.
   */
  readonly escalate?: JobEscalation;
  /** History length, in events, after which the job continues as a new run. Default: when Temporal suggests it. */
  readonly maxHistoryEvents?: number;
  /** The target of notifications. Default: none. */
  readonly notify?: NotifyTarget;
  /** Overrides of the intervals of the job. Default: none. */
  readonly timing?: Partial<JobTiming>;
}

/** The escalation of a stop that a job leaves behind. */
export interface JobEscalation extends Escalation {
  /** Whom its steps notify. Default: the target of the job or the batch. */
  readonly notify?: NotifyTarget;
}

/** Who is notified when a job ends or is blocked. */
export interface NotifyTarget {
  /** Receives a POST with JSON, signed by Standard Webhooks. */
  readonly url: string;
  /** The chat whose incoming webhook `url` is. It gets a text for people instead, without a signature. */
  readonly chat?: Chat;
}

/** The input of one run of the workflow: the user's input, and what the run before it carried over, if there was one. */
export interface JobExecution<Carried = unknown> extends JobInput {
  readonly carried?: Carried;
}
