/** The input of a `createThenPrompt` job. Types only. */

import type { MachineType } from '../../contract/workflow-safe/machine-types.js';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { SourceState } from '../../contract/workflow-safe/source-state.js';
import type { OptionalFields, RequiredFields, SettingsOf } from './setting-values.js';

export type { FilePut, JobEscalation, JobTiming, NotifyTarget, PromptStep } from './setting-values.js';

/** Where the sandbox comes from. */
export type SandboxSource =
  | {
      readonly kind: 'create';
      /**
       * Request body of the create. The job sets `name` and `ttlSeconds`. `from` names a snapshot. Further fields are
       * sent unchanged.
       */
      readonly body: OtherFields & OptionalFields<SettingsOf<'sandbox'>>;
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

/** What happens to the sandbox at the end of the job. */
export type JobEnd = JobInput['end'];

/** The settings of a job: a row of `jobSettings` each, which says what it is and what its default is. */
export type JobSettings = RequiredFields<SettingsOf<'job'>> & OptionalFields<SettingsOf<'job'>>;

/** The input of the `createThenPrompt` workflow. The defaults are those of `startJob`. */
export interface JobInput extends JobSettings {
  /** Name of the deployment; part of the workflow id. */
  readonly deployment: string;
  /** Unique within the deployment; part of the workflow id. */
  readonly jobId: string;
  /** The sandbox to create, fork or reuse. Default: a new one. */
  readonly source: SandboxSource;
  /** Set by a batch, for its items and for the job that prepares its source. */
  readonly origin?: JobOrigin;
}

/** The fields that a job needs, and those that have a default: see `JobInput`. */
export type NewJob = Pick<JobInput, 'deployment' | 'jobId'> & Partial<Omit<JobInput, 'origin'>>;

/** The input of one run of the workflow: the user's input, and what the run before it carried over, if there was one. */
export interface JobExecution<Carried = unknown> extends JobInput {
  readonly carried?: Carried;
}
