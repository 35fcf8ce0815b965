/** The messages between the workflows of one batch, and the state that they carry over. Types only. */

import type { JobTiming, SandboxSource } from '../job/job-input.js';
import type { JobError, LeftBehind } from '../job/job-result.js';
import type {
  FanoutInput,
  FanoutIntervals,
  FanoutItem,
  FanoutOutcome,
  FanoutPolicy,
  ItemOutcome,
  ItemToEnd,
  MachineType,
} from './fanout-input.js';
import type { FanoutPhase } from './fanout-progress.js';

/** A part of the items of a batch, as submitted. */
export interface ChunkSubmission {
  /** Number of the chunk, from 0; no gaps once the batch is sealed. */
  readonly chunk: number;
  /** Place of its first item in the batch, from 0. */
  readonly firstIndex: number;
  /** Digest of the items; detects different items under a known chunk number. */
  readonly digest: string;
  readonly items: readonly FanoutItem[];
}

/** The totals of a batch whose items are all submitted. */
export interface SealRequest {
  readonly chunks: number;
  readonly items: number;
}

/** A chunk in the result store. */
export type StoredChunk = ChunkSubmission;

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
  readonly retried: number;
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
  readonly source: ItemSource;
  /** Default machine size of forks. */
  readonly sourceType: MachineType;
  readonly policy: FanoutPolicy;
  readonly deadlineAtMs: number;
  readonly timing?: Partial<JobTiming>;
  readonly pace: FanoutIntervals;
  readonly grant: ChunkGrant;
  /** State of the previous run, if the chunk continues as new. */
  readonly carried?: CarriedChunk;
}

/**
 * An item in the state that a chunk passes to its next run. Absent fields have the values of an item that has no fork
 * yet.
 */
export interface CarriedItem {
  readonly state?: 'running' | 'ended';
  readonly generation?: number;
  readonly lookFirst?: true;
  readonly retried?: number;
  readonly outcome?: ItemOutcome;
  readonly settled?: number;
  readonly losses?: number;
  readonly toEnd?: ItemToEnd;
  readonly after?: Resumption;
}

/** The state that a run of a chunk passes to the next one. Its items are in the result store. */
export interface CarriedChunk {
  readonly startedAtMs: number;
  readonly items: readonly CarriedItem[];
  readonly grant: Required<ChunkGrant>;
  readonly spentSeconds: number;
  readonly throttledUntilMs: number | null;
  readonly sourceError: JobError | null;
  readonly apiCalls: number;
  readonly isCut: boolean;
  readonly reports: number;
  readonly left: readonly LeftBehind[];
  readonly leftMore: number;
  readonly blocked: readonly (readonly [index: number, message: string, since: string])[];
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
    };

/** What the result store knows of an item that has ended at least once. */
export interface KnownItem {
  readonly index: number;
  /** The newest generation that has ended. */
  readonly generation: number;
  readonly outcome: ItemOutcome;
  readonly errorCode: string | null;
  /** Total of all generations whose forks have ended. */
  readonly machineSeconds: number;
  /** Machine-seconds of the newest generation. */
  readonly newestSeconds: number;
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
export interface KeptReport extends Omit<ChunkReport, 'left' | 'leftMore' | 'sourceError'> {
  /** Number of entries that its items left. */
  readonly leftCount: number;
}

/** The record of a chunk in the state of the batch. */
export interface ChunkRecord extends ChunkPlace {
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
  sent: Required<ChunkGrant>;
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

/** `[chunk, firstIndex, items, digest]` */
export type PackedPlace = readonly [number, number, number, string];
/** See `pack-chunk.ts`. */
export type PackedChunk = readonly [...PackedPlace, ...unknown[]];

/** The state that a run of the batch passes to the next one. */
export interface CarriedBatch {
  readonly startedAtMs: number;
  readonly phase: FanoutPhase;
  readonly sinceMs: number;
  /** Chunks that have not ended, packed: there may be a thousand. */
  readonly chunks: readonly PackedChunk[];
  /** Positions of the chunks that have ended; `folded` is the sum of their reports. */
  readonly places: readonly PackedPlace[];
  readonly folded: ChunkRecord | null;
  /** Why the item that has waited longest cannot continue by itself. */
  readonly blocked: string | null;
  readonly left: readonly LeftBehind[];
  /** Number of entries in `left` that are the batch's own. */
  readonly ownLeftCount: number;
  readonly arrivedAtMs: number;
  /**
   * When each periodic task was last due, in ms since the epoch. Without this, a task would never run if each run is
   * shorter than its interval.
   */
  readonly clockedAtMs: Readonly<Partial<Record<BatchClock, number>>>;
  readonly seal: SealRequest | null;
  readonly source: ReadySource | null;
  readonly preparedSandboxId: string | null;
  readonly ending: { readonly reason: EndReason; readonly error: JobError | null; readonly atMs: number } | null;
  readonly throttle: Throttle;
  readonly leasedAtMs: number | null;
  readonly apiCalls: number;
}

/** A source that is ready to be forked. */
export interface ReadySource {
  readonly item: ItemSource;
  readonly type: MachineType;
  /** Null if the source is a named snapshot. */
  readonly sandboxId: string | null;
}

/** The input of the workflow: the user's input, and the fields that a resume or an earlier run adds. */
export interface BatchInput extends FanoutInput {
  /** Key of the batch's first execution; absent in that execution. */
  readonly batchKey?: string;
  readonly resume?: {
    /** 1 for the first resume. */
    readonly round: number;
    readonly retryFailed: boolean;
  };
  readonly carried?: CarriedBatch;
}
