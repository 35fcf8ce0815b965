/** What goes into a `forkFanout` batch and what comes out of it. Types only. */
import type { Text } from '../../src/contract/texts.js';
import type {
  FilePut,
  JobEnd,
  JobError,
  JobInput,
  JobOutcome,
  JobResult,
  JobTiming,
  LeftBehind,
  NotifyTarget,
  PromptStep,
  SandboxSource,
} from '../job/types.js';

type CreateBody = Extract<SandboxSource, { kind: 'create' }>['body'];
export type MachineType = NonNullable<CreateBody['type']>;

/** One line of the batch: what is prompted in one fork. */
export interface FanoutItem {
  /** Unique in its batch, shown to people: a line's own id, or its number. */
  readonly id: string;
  /** At least one; in order in one conversation. */
  readonly prompts: readonly PromptStep[];
  readonly put?: readonly FilePut[];
  readonly collect?: readonly string[];
  /** Machine size of the fork; else that of the batch. */
  readonly type?: MachineType;
  /** What happens to the fork at the end; else as the batch says. */
  readonly end?: JobEnd;
  /** Hard deadline of the item, in ms from its fork; else that of the batch. */
  readonly deadlineMs?: number;
  /** Shown in reports: where the item stands in a matrix, or columns of its line. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Where the forks come from. */
export type FanoutSource =
  | { readonly kind: 'sandbox'; readonly sandboxId: string; readonly allowStale: boolean }
  | { readonly kind: 'snapshot'; readonly from: string; readonly body: Omit<CreateBody, 'from'> }
  | {
      /** Makes a sandbox, sets it up and stops it, so that the forks start from that very state. */
      readonly kind: 'prepare';
      readonly body: CreateBody;
      readonly put: readonly FilePut[];
      /** Run in order; one that fails ends the batch. */
      readonly commands: readonly Text[];
      readonly prompts: readonly PromptStep[];
      readonly deadlineMs: number;
      /** What happens to the prepared sandbox when the batch has ended: it is archived, or deleted. */
      readonly end: 'stop' | 'delete';
    };

export interface FanoutPolicy {
  /** Items at work at once. */
  readonly concurrency: number;
  /** `go_on`; `fail_fast`: the first item that fails for good ends the batch; or the batch ends at K successes. */
  readonly stopAt:
    | { readonly kind: 'go_on' }
    | { readonly kind: 'fail_fast' }
    | { readonly kind: 'successes'; readonly count: number };
  /** How often an item that failed is tried again, each time as its next generation, in a new fork. */
  readonly retries: number;
  readonly itemDeadlineMs: number;
  /** Hard deadline of the whole batch, in ms from its start. Clean-up comes after it. */
  readonly deadlineMs: number;
  /** Machine-seconds, the machine's multiplier applied, that all forks together may take; null: no limit. */
  readonly budgetSeconds: number | null;
  readonly type: MachineType | null;
  readonly end: JobEnd;
  /** Auto-stop of each fork, in seconds, renewed while its item works. */
  readonly ttlSeconds: number;
  readonly onUnknownOutcome: 'wait' | 'abandon' | 'resend';
}

/** A whole batch without its items, which follow in chunks. */
export interface FanoutInput {
  readonly deployment: string;
  readonly batchId: string;
  readonly source: FanoutSource;
  readonly policy: FanoutPolicy;
  /** Shown in reports. */
  readonly title?: string;
  readonly notify?: NotifyTarget;
  readonly timing?: Partial<JobTiming>;
  readonly pace?: Partial<FanoutIntervals>;
}

/** How often the parts of a batch talk. Every field has a default in `fanout/batch/defaults.ts`; tests shorten them. */
export interface FanoutIntervals {
  /** A chunk tells the batch what is not urgent at most so often, in ms. */
  readonly reportEveryMs: number;
  /** A chunk that has been silent for so long is looked up, in ms. */
  readonly checkChunksEveryMs: number;
  /** While the service throttles: how often the window may halve, and how often it grows by a tenth, in ms. */
  readonly recoverEveryMs: number;
  /** The batch and its chunks go on as new runs when their history is longer. Null: when Temporal suggests it. */
  readonly maxHistoryEvents: number | null;
  /** The batch goes on as a new run when it has taken so many updates or signals: Temporal takes 2,000 and 10,000. */
  readonly maxMessages: number;
}

/**
 * - a `JobOutcome`: how the item's newest generation ended.
 * - `not_started`: the batch ended before the item's turn.
 */
export type ItemOutcome = JobOutcome | 'not_started';

/** When an item's generation went from one step to the next; null where it did not come so far. */
export interface ItemTimes {
  /** The chunk of the item began to work; null for an item that was not started. */
  readonly queuedAt: string | null;
  readonly forkedAt: string | null;
  readonly usableAt: string | null;
  readonly promptedAt: string | null;
  readonly answeredAt: string | null;
  readonly endingAt: string | null;
  /** Null in a result while the item's fork has not ended as asked: its work is done, and stored before its fork is ended. */
  readonly endedAt: string | null;
}

/** One line of `results.jsonl`, and one object of the result store for each item and generation. */
export interface ItemResult {
  readonly batchId: string;
  readonly itemId: string;
  /** Place of the item in the batch, from 0. */
  readonly index: number;
  /** From 1; 0 for an item that was not started. */
  readonly generation: number;
  readonly outcome: ItemOutcome;
  readonly labels: Readonly<Record<string, string>>;
  readonly type: MachineType;
  readonly times: ItemTimes;
  /** Machine-seconds from the fork to its end, the multiplier applied: what is settled against the budget. */
  readonly machineSeconds: number;
  /** Null for an item that was not started. */
  readonly job: JobResult | null;
}

/** What the workflow of an item is given. */
export interface FanoutItemInput {
  readonly job: JobInput;
  readonly batchId: string;
  readonly itemId: string;
  readonly index: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly type: MachineType;
  readonly queuedAt: string;
  /** Prefix of the item's objects in the result store; each generation writes `<prefix>/<generation>.json`. */
  readonly resultPrefix: string;
  /** The workflow that is told when the service throttles the item's fork. */
  readonly chunkWorkflowId: string;
  /** Where the work is done, and only the fork is left to be ended. */
  readonly toEnd?: ItemToEnd;
}

/** What an item left whose workflow was ended from outside after its work was done, and before its fork had ended. */
export interface ItemToEnd {
  readonly generation: number;
  readonly sandboxId: string;
  readonly outcome: ItemOutcome;
  /** Code of its error, or null. */
  readonly errorCode: string | null;
  /** Prompts at which an agent may be at work: it was cut short. By their place. */
  readonly running: readonly {
    readonly at: number;
    readonly promptId: string | null;
    readonly conversationId: string | null;
  }[];
}

/** What the workflow of an item hands back; the rest is in the result store. */
export interface ItemSummary {
  readonly index: number;
  /** The newest that was used. */
  readonly generation: number;
  readonly outcome: ItemOutcome;
  readonly sandboxId: string | null;
  /** False when the fork did not end as asked. */
  readonly endedAsAsked: boolean;
  readonly machineSeconds: number;
  readonly resultRef: string | null;
  readonly apiCalls: number;
  readonly error: JobError | null;
  /** What somebody has to look after; the first few. */
  readonly left: readonly LeftBehind[];
}

/** Counts of a batch. `queued`, `running` and the outcomes together are `items`. */
export interface FanoutCounts {
  readonly items: number;
  readonly queued: number;
  readonly running: number;
  readonly completed: number;
  /** Failed for good: ended otherwise than `completed`, but not those that were cancelled or never started. */
  readonly failed: number;
  /** Generations beyond each item's first. */
  readonly retried: number;
  /** Items by how they ended. */
  readonly byOutcome: Readonly<Partial<Record<ItemOutcome, number>>>;
}

export type FanoutPhase = 'preparing' | 'checking_source' | 'running' | 'ending' | 'ended';

/**
 * - `completed`: every item completed, or the wished number did.
 * - `partly_failed`: every item ended, some not `completed`.
 * - `failed_fast`: ended at the first failure, as asked.
 * - `budget_spent`: items were left because the budget has no room for them.
 * - `source_failed`: there was nothing to fork from.
 * - `deadline_exceeded`, `cancelled`: ended from outside.
 */
export type FanoutOutcome =
  | 'completed'
  | 'partly_failed'
  | 'failed_fast'
  | 'budget_spent'
  | 'source_failed'
  | 'deadline_exceeded'
  | 'cancelled';

/** Answer of the progress query; cheap, whatever the number of items. */
export interface FanoutProgress {
  readonly batchId: string;
  /** Run id of the batch's first execution: where its objects are in the result store. */
  readonly batchKey: string;
  readonly title: string | null;
  readonly phase: FanoutPhase;
  readonly since: string;
  readonly startedAt: string;
  readonly deadlineAt: string;
  /** What all items are forked from, once it is known. */
  readonly sourceSandboxId: string | null;
  /** True once every item is known. */
  readonly sealed: boolean;
  readonly chunks: number;
  readonly counts: FanoutCounts;
  readonly budget: {
    readonly limitSeconds: number | null;
    readonly spentSeconds: number;
    readonly reservedSeconds: number;
  };
  /** Forks wait until then, because the service throttles them; null where they do not. */
  readonly throttledUntil: string | null;
  /** Why it does not go on by itself, or null. */
  readonly blocked: { readonly message: string; readonly since: string } | null;
  readonly outcome: FanoutOutcome | null;
  readonly error: JobError | null;
}

/** Result of the workflow. The items' results are in the result store. */
export interface FanoutResult extends FanoutProgress {
  readonly outcome: FanoutOutcome;
  readonly apiCalls: number;
  readonly durationMs: number;
  /** `results.jsonl`, one line an item, its newest generation, in the order of the batch. */
  readonly resultsRef: string | null;
  /** What did not end as asked, or may have been made and was not found: the first 100. Somebody has to look after it. */
  readonly left: readonly LeftBehind[];
  /** How much more there is that `left` has no room for; the items' results name all of it. */
  readonly leftMore: number;
  /** The sandboxes in `left` whose ids are known. */
  readonly leftSandboxIds: readonly string[];
}
