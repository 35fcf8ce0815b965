/** The input of a `forkFanout` batch, and its outcomes. Types only. */
import type { MachineType } from '../../contract/workflow-safe/machine-types.js';
import type { FilePut, JobInput, JobTiming, NotifyTarget, PromptStep, SandboxSource } from '../job/job-input.js';
import type { JobOutcome } from '../job/job-result.js';
import type {
  AnyFields,
  OptionalFields,
  RequiredFields,
  SettingsForItems,
  SettingsOf,
  SettingsOfItems,
} from '../job/setting-values.js';
import type { FailureClass } from '../result-error-codes.js';
import type { Text } from '../stored-text.js';

type CreateBody = Extract<SandboxSource, { kind: 'create' }>['body'];

export type { MachineType };

/** What an item may set instead of its batch: a row of `jobSettings` each. */
export type ItemSettings = AnyFields<SettingsOfItems>;

/** One line of the batch: the prompts of one fork. */
export interface FanoutItem extends ItemSettings {
  /** Unique in its batch; shown to users. The id given in the line, or the number of the item. */
  readonly id: string;
  /** At least one. They run sequentially in one conversation, unless the batch says otherwise. */
  readonly prompts: readonly PromptStep[];
  /** Shown in reports: the item's position in a matrix, or columns of its line. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * What a template may insert besides the id and the labels, if the prompt is changed later. No prompt and no report
   * shows it. Default: none.
   */
  readonly columns?: Readonly<Record<string, Text>>;
}

/** An item as it is submitted. */
export interface NewFanoutItem extends FanoutItem {
  /** The source of its fork. Items with equal sources share one. Default: the source of the batch. */
  readonly source?: FanoutSource;
}

/** The source of the forks. */
export type FanoutSource =
  | { readonly kind: 'sandbox'; readonly sandboxId: string; readonly allowStale: boolean }
  | { readonly kind: 'snapshot'; readonly from: string; readonly body: CreateBody & { readonly from?: never } }
  | {
      /** Creates a sandbox, sets it up and stops it, so that all forks start from the same state. */
      readonly kind: 'prepare';
      readonly body: CreateBody;
      readonly put: readonly FilePut[];
      /** Shell commands that run sequentially. The first failure ends the batch. */
      readonly commands: readonly Text[];
      readonly prompts: readonly PromptStep[];
      readonly deadlineMs: number;
      /** Whether the prepared sandbox is archived or deleted when the batch has ended. */
      readonly end: 'stop' | 'delete';
    };

type PolicyRows = SettingsOf<'policy'> & SettingsForItems;

/**
 * Limits and settings of a batch: a row of `jobSettings` each, which says what it is and what its default is. The
 * defaults are those of `submitFanout`.
 */
export type FanoutPolicy = RequiredFields<PolicyRows> & OptionalFields<PolicyRows>;

/** A batch without its items, which follow in chunks. */
export interface FanoutInput {
  /** Name of the deployment; part of every workflow id. */
  readonly deployment: string;
  /** Unique within the deployment; part of every workflow id. */
  readonly batchId: string;
  /** The source of the forks. Absent: each chunk names its own. */
  readonly source?: FanoutSource;
  /** Limits and settings. */
  readonly policy: FanoutPolicy;
  /** Shown in reports. */
  readonly title?: string;
  /** The target of notifications. Default: none. */
  readonly notify?: NotifyTarget;
  /** Overrides of the intervals of jobs. Default: none. */
  readonly timing?: Partial<JobTiming>;
  /** Overrides of the intervals of the batch. Default: none. */
  readonly pace?: Partial<FanoutIntervals>;
}

/** Intervals and limits of a batch. `wait-intervals.ts` holds the default of every field; tests shorten them. */
export interface FanoutIntervals {
  /** Shortest interval between reports of a chunk that are not urgent, in ms. */
  readonly reportEveryMs: number;
  /** How long a chunk may be silent before the batch checks whether it runs, in ms. */
  readonly checkChunksEveryMs: number;
  /**
   * Shortest interval between two halvings, or two increases by a tenth, of the window while the service throttles, in
   * ms.
   */
  readonly recoverEveryMs: number;
  /**
   * History length, in events, after which the batch and its chunks continue as new. Null: when Temporal suggests it.
   */
  readonly maxHistoryEvents: number | null;
  /**
   * Updates or signals after which the batch continues as new. Temporal allows 2,000 updates and 10,000 signals in one
   * run.
   */
  readonly maxMessages: number;
}

/**
 * - a `JobOutcome`: how the item's newest generation ended.
 * - `not_started`: the batch ended before the item's turn.
 */
export type ItemOutcome = JobOutcome | 'not_started';

/** The input of an item's workflow. */
export interface FanoutItemInput {
  /** The job that runs in the fork. */
  readonly job: JobInput;
  /** Id of the batch. */
  readonly batchId: string;
  /** Id of the item, unique in its batch. */
  readonly itemId: string;
  /** Place of the item in the batch, from 0. */
  readonly index: number;
  /** The labels of the item; empty if it has none. */
  readonly labels: Readonly<Record<string, string>>;
  /** Machine size of the fork. */
  readonly type: MachineType;
  /** When the chunk of the item started, as an ISO 8601 time. */
  readonly queuedAt: string;
  /** Prefix of the item's objects in the result store; each generation writes `<prefix>/<generation>.json`. */
  readonly resultPrefix: string;
  /** The workflow to notify when the service throttles the item's fork. */
  readonly chunkWorkflowId: string;
  /** Set if the work is done and only the fork remains to be ended. */
  readonly toEnd?: ItemToEnd;
}

/** The fork of an item whose workflow was terminated after its work was done and before the fork had ended. */
export interface ItemToEnd {
  /** The generation that owns the fork. */
  readonly generation: number;
  /** Id of the fork. */
  readonly sandboxId: string;
  readonly outcome: ItemOutcome;
  /** Code of its error, or null. */
  readonly errorCode: string | null;
  /** This and the next as in the summary of the item. Absent in results of earlier versions. */
  readonly failureClass?: FailureClass | null;
  readonly wasPrompted?: boolean;
  /** Prompts that may still run, because the item was cut short. `at` is the place of the prompt. */
  readonly running: readonly {
    readonly at: number;
    readonly promptId: string | null;
    readonly conversationId: string | null;
  }[];
}

/**
 * - `completed`: every item completed, or the requested number did.
 * - `partly_failed`: every item ended, and some did not complete.
 * - `failed_fast`: the first failure ended the batch, as requested.
 * - `budget_spent`: items remain that the budget cannot cover.
 * - `source_failed`: no source could be forked.
 * - `deadline_exceeded`, `cancelled`: the batch was ended from outside.
 */
export type FanoutOutcome =
  | 'completed'
  | 'partly_failed'
  | 'failed_fast'
  | 'budget_spent'
  | 'source_failed'
  | 'deadline_exceeded'
  | 'cancelled';
