/** The messages between the workflows of one batch, and the state that they carry over. Types only. */

import type { SourceState } from '../../contract/workflow-safe/source-state.js';
import type { ByClass } from '../failure-class.js';
import type { JobTiming, SandboxSource } from '../job/job-input.js';
import type { JobError, LeftBehind } from '../job/job-result.js';
import type { FailureClass } from '../result-error-codes.js';
import type {
  FanoutInput,
  FanoutIntervals,
  FanoutItem,
  FanoutOutcome,
  FanoutPolicy,
  FanoutSource,
  ItemOutcome,
  ItemToEnd,
  MachineType,
} from './fanout-input.js';
import type { BatchHold, FanoutPhase } from './fanout-progress.js';
import type { ItemEnding, ItemResult } from './fanout-result.js';

/** A part of the items of a batch, as submitted. */
export interface ChunkSubmission {
  /** Number of the chunk, from 0; no gaps once the batch is sealed. */
  readonly chunk: number;
  /** Place of its first item in the batch, from 0. */
  readonly firstIndex: number;
  /** Digest of the items and their source; detects different items under a known chunk number. */
  readonly digest: string;
  readonly items: readonly FanoutItem[];
  /** The source of all its items. Absent: that of the batch. */
  readonly source?: FanoutSource;
}

/** The totals of a batch whose items are all submitted. */
export interface SealRequest {
  readonly chunks: number;
  readonly items: number;
}

/** A chunk in the result store. */
export type StoredChunk = ChunkSubmission;

/** Where a resume finds the items that have changed since they were submitted. */
export interface ChangedItems {
  /** Name of the set in the result store. A set never changes. */
  readonly set: string;
  /** True if this execution runs only the items that the set names. */
  readonly only: boolean;
}

/** The changed items of one chunk, in the result store. */
export interface ChangedChunk {
  readonly items: readonly ChangedItem[];
}

/** What an item runs with from now on. */
export interface ChangedItem extends NextRun {
  /** Place of the item in its chunk, from 0. */
  readonly at: number;
  readonly item: FanoutItem;
}

/** When an item runs again, even if it has completed. */
export interface NextRun {
  /** The newest generation that had ended when the item was changed; 0 for none. The next one runs. */
  readonly after: number;
  /** True if the newest change named the item. */
  readonly isNamed: boolean;
}

/** The source that every item of the batch starts from. */
export type ItemSource = Exclude<SandboxSource, { kind: 'existing' }>;

/** The amounts that a chunk may use. If a field is absent, its previous value still applies. */
export interface ChunkGrant {
  /** Grows with every grant to this chunk. */
  readonly seq: number;
  /** Number of items that may run concurrently. */
  readonly window?: number;
  /** Machine-seconds in total, including those already spent. Null: no limit. */
  readonly budgetSeconds?: number | null;
  /** No item starts before this time, in ms since the epoch. */
  readonly pausedUntilMs: number | null;
  /** True if no further item starts and running items are cancelled. */
  readonly isEnding: boolean;
  /** How many permanent failures of this chunk the batch knew of, and did not stop at. Never falls. Default: 0. */
  readonly answered?: number;
  /** Set once items after the canaries may start. */
  readonly isProven?: true;
}

/** A grant of which every amount is known. */
export type FullGrant = ChunkGrant & Required<Pick<ChunkGrant, 'window' | 'budgetSeconds'>>;

/** Endings of items that followed one another with the same failure: the same outcome and the same code. */
export interface FailureStreak {
  readonly outcome: ItemOutcome;
  /** Code of the error, perhaps cut; null without an error. */
  readonly code: string | null;
  /** True if another item or attempt would meet the failure too. */
  readonly isPermanent: boolean;
  readonly count: number;
}

/** The progress of a chunk. Its size does not depend on the number of items. */
export interface ChunkReport {
  readonly chunk: number;
  /** Which start of this chunk's workflow sends the report, from 1. */
  readonly attempt: number;
  /** Number of the report within the attempt, from 1. A late, older report is ignored. */
  readonly report: number;
  /** `seq` of the last grant that the chunk has received. */
  readonly seq: number;
  /** The window in effect from this report on; never more than the remaining items. */
  readonly window: number;
  readonly running: number;
  /** Number of finally ended items, by outcome. */
  readonly byOutcome: Readonly<Partial<Record<ItemOutcome, number>>>;
  /** The failed ones among them. Absent: none, or of an earlier version. */
  readonly byClass?: ByClass;
  readonly retried: number;
  /** Number of items that were refused because their source was lost. Absent: none. */
  readonly lost?: number;
  /** The newest endings, if they are the same failure; null if the newest one is none. Absent before the first failure. */
  readonly streak?: FailureStreak | null;
  /** Number of permanent failures. Absent if there were none, or the batch does not ask. */
  readonly permanent?: number;
  readonly budget: {
    /** The limit in effect from this report on; null without a limit. */
    readonly grantedSeconds: number | null;
    readonly spentSeconds: number;
    readonly reservedSeconds: number;
    /** Machine-seconds that the cheapest waiting item needs beyond the grant; 0 if no item waits for budget. */
    readonly nextSeconds: number;
    /** Machine-seconds that the chunk needs beyond the grant to use its whole window. */
    readonly wantedSeconds: number;
  };
  /** Until when the service throttles forks, in ms since the epoch. */
  readonly throttledUntilMs: number | null;
  /** Why an item cannot continue by itself; if several cannot, the item that has waited longest. */
  readonly blocked: { readonly message: string; readonly since: string } | null;
  /** Why the source can no longer be forked, if an item has detected this. */
  readonly sourceError: JobError | null;
  /** Set if the chunk has ended because this version can never read its items. */
  readonly unreadable?: JobError;
  /** The first few entries that need attention; `leftMore` counts the others. */
  readonly left: readonly LeftBehind[];
  readonly leftMore: number;
  readonly apiCalls: number;
  /** True if no further item starts, by decision of the batch or of the chunk. */
  readonly isEnding: boolean;
  readonly hasEnded: boolean;
  /** True if the chunk ended before every item had its turn. */
  readonly wasCut: boolean;
}

export interface ChunkInput {
  readonly deployment: string;
  readonly batchId: string;
  readonly batchKey: string;
  readonly chunk: number;
  readonly firstIndex: number;
  readonly items: number;
  readonly attempt: number;
  /** True if no item of the chunk was ever started. */
  readonly isFresh: boolean;
  /** True if items that failed in an earlier execution of the batch are retried, even beyond `retries`. */
  readonly retryFailed: boolean;
  /** Default: the items are as submitted. */
  readonly changed?: ChangedItems;
  readonly source: ItemSource;
  /** The state that every fork must start from. Default: any. */
  readonly startsFrom?: SourceState;
  /** Default machine size of forks. */
  readonly sourceType: MachineType;
  readonly policy: FanoutPolicy;
  readonly deadlineAtMs: number;
  readonly timing?: Partial<JobTiming>;
  readonly pace: FanoutIntervals;
  readonly grant: ChunkGrant;
  /** State of the previous run, if there was one. */
  readonly carried?: CarriedChunk;
}

/** An item in the state of its chunk. */
export interface CarriedItem {
  state: 'waiting' | 'running' | 'ended';
  /** The generation that runs, or the next one. */
  generation: number;
  /** True if an earlier workflow may have forked that generation. */
  lookFirst: boolean;
  retried: number;
  outcome: ItemOutcome | null;
  failureClass?: FailureClass | null;
  /** Number of retries that did not count. Absent: 0. */
  excused?: number;
  /**
   * The newest generation that had ended when the results were read. The workflow of the item may have started the next
   * generation since, or ended.
   */
  settled: number;
  /** How often its workflow was terminated from outside, in this generation. */
  losses: number;
  /** Set if only its fork must still be ended. */
  toEnd: ItemToEnd | null;
  /** What to do once that fork has ended, if an earlier execution did the work. */
  after: Resumption | null;
}

/** The state that a run of a chunk passes to the next one. */
export interface CarriedChunk {
  readonly startedAtMs: number;
  /** By their place in the chunk; empty until they are loaded. The result store holds what they are to do. */
  items: CarriedItem[];
  grant: FullGrant;
  spentSeconds: number;
  throttledUntilMs: number | null;
  sourceError: JobError | null;
  /** True if the chunk ends early, even if its grants allow more. */
  isCut: boolean;
  /** Number of the last report; it grows with each, also over resets. */
  reports: number;
  /** The first few entries that need attention; `leftMore` counts the others. */
  readonly left: LeftBehind[];
  leftMore: number;
  /** Items that cannot continue by themselves, and why; oldest first. */
  blocked: BlockedItem[];
  /** What is to be added to the stored results of items that have ended. */
  readonly endings: ItemEnding[];
  /** As in the reports. */
  streak?: FailureStreak | null;
  permanent?: number;
  lost?: number;
}

export interface BlockedItem {
  readonly index: number;
  readonly message: string;
  readonly since: string;
}

/** The remaining work of an item that an earlier workflow may have run. */
export type Resumption =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'run';
      readonly generation: number;
      /** True if that generation may already have a fork. */
      readonly lookFirst: boolean;
      readonly retried: number;
      readonly excused?: number;
    };

/** What the result store knows of an item that has ended at least once: of its newest generation that has. */
export interface KnownItem
  extends Pick<ItemResult, 'index' | 'generation' | 'outcome' | 'failureClass' | 'wasPrompted'> {
  readonly errorCode: string | null;
  /** The generations whose failure costs none of the retries. */
  readonly excused?: readonly number[];
  /** Total of all generations whose forks have ended. */
  readonly machineSeconds: number;
  /** Machine-seconds of the newest generation. */
  readonly newestSeconds: number;
  /** The state that its forks started from; null if unknown. */
  readonly startsFrom: SourceState | null;
  /** Set unless the fork of the newest generation has certainly been stopped, deleted or kept as requested. */
  readonly toEnd: ItemToEnd | null;
}

/** The position and digest of a chunk's items in the batch. */
export interface ChunkPlace {
  readonly chunk: number;
  readonly firstIndex: number;
  readonly items: number;
  readonly digest: string;
}

/** The part of a report that the batch keeps. It keeps the list of what may still run for all chunks together. */
export interface KeptReport extends Omit<ChunkReport, 'left' | 'leftMore' | 'sourceError' | 'unreadable' | 'streak'> {
  /** Number of entries that its items left. */
  readonly leftCount: number;
}

/** The record of a chunk in the state of the batch. */
export interface ChunkRecord extends ChunkPlace {
  /** Number of its source. Absent: that of the batch. */
  source?: number;
  state: 'waiting' | 'open' | 'ended';
  /** Number of starts of its workflow; 0 before the first. */
  attempt: number;
  isFresh: boolean;
  /** Passed to its next start. */
  retryFailed: boolean;
  /** True if an earlier execution of the batch started its workflow. */
  isAttached: boolean;
  /** True while a chunk of an earlier execution has not yet reported its grant and its items. */
  awaitsReport: boolean;
  /** The last grant that was sent, with all fields. */
  sent: FullGrant;
  /** The grants that the chunk may still use, according to its last report. */
  charged: { readonly window: number; readonly budgetSeconds: number };
  report: KeptReport | null;
  reportedAtMs: number;
  /** Sums from the reports of earlier starts that the result store does not hold. */
  before: Pick<KeptReport, 'apiCalls' | 'leftCount'>;
}

/** Why a batch ends before all items were started. `enough`: the requested number of successes is reached. */
export type EndReason = Exclude<FanoutOutcome, 'completed' | 'partly_failed'> | 'enough';

/** The concurrency limit while the service throttles. */
export interface Throttle {
  /** Number of items that may run concurrently, over all chunks. */
  readonly limit: number;
  readonly pausedUntilMs: number | null;
  readonly cutAtMs: number | null;
}

/** The periodic tasks of a batch. */
export type BatchClock = 'checks' | 'recovery';

/** How far a batch is with one of its sources. */
export interface CarriedSource {
  source: ReadySource | null;
  /** Why no further item can start from the state of the first ones; null while items can. */
  sourceChange: JobError | null;
  preparedSandboxId: string | null;
  /** When the lease on the source was last granted, in ms since the epoch, or null. */
  leasedAtMs: number | null;
  /** The sandbox that the batch leases: its source, or the holder of its named snapshot. */
  leasedSandboxId: string | null;
  /** Set once the source was ended while the batch runs. */
  isSourceEnded?: true;
}

/** A source that only some of the chunks name. The first of these chunks holds it, in the result store. */
export interface OwnSource extends CarriedSource {
  /** Number of that chunk. */
  readonly number: number;
  /** Place of its first item in the batch, from 0. */
  readonly firstIndex: number;
  /** Equal sources have the same digest. */
  readonly digest: string;
  /** Set once the batch has begun to obtain it. */
  isBegun?: true;
  hasFailed?: true;
  /** What is to be done with the prepared sandbox. Absent: nothing is prepared, or the source was not read yet. */
  end?: 'stop' | 'delete';
}

/**
 * The state that a run of the batch passes to the next one, with the state of the batch's own source. A thousand chunks
 * at their largest must fit one payload.
 */
export interface CarriedBatch extends CarriedSource {
  readonly startedAtMs: number;
  /** False until the work of an earlier execution is known. */
  isSurveyed: boolean;
  phase: FanoutPhase;
  /** When that phase began, in ms since the epoch. */
  sinceMs: number;
  /** By number: chunks that have not ended, or that ended in this run. */
  readonly chunks: Record<number, ChunkRecord>;
  /** Sum of all chunks that ended in earlier runs. */
  folded: ChunkRecord | null;
  /** Positions of these chunks. */
  readonly foldedPlaces: ChunkPlace[];
  /** Sandboxes and prompts that may still run, up to a limit, by what they are. */
  readonly left: Record<string, LeftBehind>;
  /** Number of entries of the batch itself. Reports of chunks do not include them. */
  ownLeftCount: number;
  /** When the last chunk arrived, in ms since the epoch. */
  arrivedAtMs: number;
  /**
   * When each periodic task was last due, in ms since the epoch. Without this, a task would never run if each run is
   * shorter than its interval.
   */
  readonly clockedAtMs: Partial<Record<BatchClock, number>>;
  seal: SealRequest | null;
  /** The sources that only some of the chunks name, by number. Absent: there are none. */
  sources?: Record<number, OwnSource>;
  /** Why the first of these failed that did. */
  sourceFailure?: JobError;
  /** Why the first source did not end that did not end as requested. */
  sourceLeft?: JobError;
  /** The states that forks of earlier executions started from: one for each source. */
  startedFrom: readonly SourceState[];
  ending: { readonly reason: EndReason; readonly error: JobError | null; readonly atMs: number } | null;
  /** Why the items of a chunk cannot be read: the first that was found. */
  unreadable?: JobError;
  throttle: Throttle;
  /** The newest endings of all chunks, in the order in which the batch learned of them, if they are the same failure. */
  streak?: FailureStreak | null;
  /** Why no item starts until a person decides; null or absent if items may start. */
  held?: BatchHold | null;
  /** Set once the canaries have ended and have not failed alike, or a person lets the batch go on. */
  isProven?: true;
}

/** A source that is ready to be forked. */
export interface ReadySource {
  readonly item: ItemSource;
  readonly type: MachineType;
  /** Null if the source is a named snapshot. */
  readonly sandboxId: string | null;
  /** Null if each fork starts from the moment of its call, or if the service does not show the state. */
  readonly state: SourceState | null;
}

/** The input of the workflow: the user's input, and the fields that a resume or an earlier run adds. */
export interface BatchInput extends FanoutInput {
  /** Key of the batch's first execution; absent in that execution. */
  readonly batchKey?: string;
  readonly resume?: {
    /** 1 for the first resume. */
    readonly round: number;
    readonly retryFailed: boolean;
    /** Default: the items are as submitted. */
    readonly changed?: ChangedItems;
  };
  readonly carried?: CarriedBatch;
}
