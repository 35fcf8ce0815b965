/** What the workflows of one batch tell each other and hand on. Types only. */

import type { JobError, JobTiming, LeftBehind, SandboxSource } from '../job/types.js';
import type {
  FanoutInput,
  FanoutIntervals,
  FanoutItem,
  FanoutOutcome,
  FanoutPhase,
  FanoutPolicy,
  ItemOutcome,
  ItemToEnd,
  MachineType,
} from './types.js';

/** Some of the items of a batch, as they are submitted. */
export interface ChunkSubmission {
  /** From 0, without gaps in the end. */
  readonly chunk: number;
  /** Place of its first item in the batch, from 0. */
  readonly firstIndex: number;
  /** Of the items, so that other items under a number that is known are noticed. */
  readonly digest: string;
  readonly items: readonly FanoutItem[];
}

/** All there is. */
export interface SealRequest {
  readonly chunks: number;
  readonly items: number;
}

/** A chunk in the result store. */
export type StoredChunk = ChunkSubmission;

/** What every item of the batch starts from. */
export type ItemSource = Exclude<SandboxSource, { kind: 'existing' }>;

/** How much of everything a chunk may have. What is left out stays as it is. */
export interface ChunkGrant {
  /** Grows with every grant to this chunk. */
  readonly seq: number;
  /** Items at work at once. */
  readonly window?: number;
  /** Machine-seconds in all, those that it has spent included. Null: no limit. */
  readonly budgetSeconds?: number | null;
  /** No item is started before, in ms since the epoch. */
  readonly pausedUntilMs: number | null;
  /** No item is started any more, and those at work are cancelled. */
  readonly isEnding: boolean;
}

/** How far a chunk is. Its size does not depend on the number of items. */
export interface ChunkReport {
  readonly chunk: number;
  /** The start of this chunk's workflow that reports, from 1 … */
  readonly attempt: number;
  /** … and its reports, from 1: an older one that comes late is left out. */
  readonly report: number;
  /** The last grant that it has seen. */
  readonly seq: number;
  /** Obeyed from here on: never more than it has items left. */
  readonly window: number;
  readonly running: number;
  /** Items that have ended for good, by how they ended. */
  readonly byOutcome: Readonly<Partial<Record<ItemOutcome, number>>>;
  readonly retried: number;
  readonly budget: {
    /** Obeyed from here on; null without a limit. */
    readonly grantedSeconds: number | null;
    readonly spentSeconds: number;
    readonly reservedSeconds: number;
    /** What the cheapest waiting item needs beyond the grant; 0 where nothing waits for budget. */
    readonly nextSeconds: number;
    /** What would let it use its whole window. */
    readonly wantedSeconds: number;
  };
  /** The service throttles forks until then, in ms since the epoch. */
  readonly throttledUntilMs: number | null;
  /** Why an item of it does not go on by itself; of several the one that has waited longest. */
  readonly blocked: { readonly message: string; readonly since: string } | null;
  /** Why nothing can be forked any more, as an item has found out. */
  readonly sourceError: JobError | null;
  /** What its items left to look after: the first few, and how much more there is. */
  readonly left: readonly LeftBehind[];
  readonly leftMore: number;
  readonly apiCalls: number;
  /** No item is started any more, by the batch's word or its own. */
  readonly isEnding: boolean;
  readonly hasEnded: boolean;
  /** True where it ended before every item had its turn. */
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
  /** True where no item of it was ever started. */
  readonly isFresh: boolean;
  /** Whether items that failed in an earlier execution of the batch are tried again, whatever the retries. */
  readonly retryFailed: boolean;
  readonly source: ItemSource;
  /** Size of forks that name none. */
  readonly sourceType: MachineType;
  readonly policy: FanoutPolicy;
  readonly deadlineAtMs: number;
  readonly timing?: Partial<JobTiming>;
  readonly pace: FanoutIntervals;
  readonly grant: ChunkGrant;
  /** Of a chunk that goes on as a new run. */
  readonly carried?: CarriedChunk;
}

/** An item as a chunk carries it to its next run; what is left out is as in an item that waits for its first fork. */
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

/** What a run of a chunk hands on to the next one. Its items are in the result store. */
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

/** What an item that an earlier workflow may have run needs now. */
export type Resumption =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'run';
      readonly generation: number;
      /** True where that generation may have been forked already. */
      readonly lookFirst: boolean;
      readonly retried: number;
    };

/** What the result store knows of an item that has ended at least once. */
export interface KnownItem {
  readonly index: number;
  /** The newest that has ended. */
  readonly generation: number;
  readonly outcome: ItemOutcome;
  readonly errorCode: string | null;
  /** Of all its generations whose forks have ended. */
  readonly machineSeconds: number;
  /** Of the newest alone. What 0.1.0 read has none. */
  readonly newestSeconds?: number;
  /** Where the fork of the newest has not ended as asked, or nobody knows that it has. */
  readonly toEnd: ItemToEnd | null;
}

/** Where a chunk's items are in the batch, and which they are. */
export interface ChunkPlace {
  readonly chunk: number;
  readonly firstIndex: number;
  readonly items: number;
  readonly digest: string;
}

/** What the batch keeps of a report: what is left to look after is kept for all chunks together. */
export interface HeardReport extends Omit<ChunkReport, 'left' | 'leftMore' | 'sourceError'> {
  /** How much its items left to look after. */
  readonly leftCount: number;
}

/** A chunk as the batch keeps it. */
export interface ChunkRecord extends ChunkPlace {
  state: 'waiting' | 'open' | 'ended';
  /** Starts of its workflow; 0 before the first. */
  attempt: number;
  isFresh: boolean;
  /** Passed on to its next start. */
  retryFailed: boolean;
  /** True where its workflow was started by an earlier execution of the batch. */
  isAttached: boolean;
  /** True while such a one has not said what it has. */
  isGreeted: boolean;
  /** The last grant that was sent, whole. */
  sent: Required<ChunkGrant>;
  /** What it may still act upon, because it has not said otherwise. */
  charged: { readonly window: number; readonly budgetSeconds: number };
  report: HeardReport | null;
  heardAtMs: number;
  /** What earlier starts of it have reported and the result store does not tell. */
  before: Pick<HeardReport, 'apiCalls' | 'leftCount'>;
}

/** Why a batch ends before all items had their turn. `enough`: the wished number of successes. */
export type EndReason = Exclude<FanoutOutcome, 'completed' | 'partly_failed'> | 'enough';

/** Pace of the window while the service throttles. */
export interface Throttle {
  /** Items at work at once, in all chunks. */
  readonly limit: number;
  readonly pausedUntilMs: number | null;
  readonly cutAtMs: number | null;
}

/** What a batch does by the clock. */
export type BatchClock = 'checks' | 'recovery';

/** `[chunk, firstIndex, items, digest]` */
export type PackedPlace = readonly [number, number, number, string];
/** See `pack-chunk.ts`. */
export type PackedChunk = readonly [...PackedPlace, ...unknown[]];

/** What a run of the batch hands on to the next one. */
export interface CarriedBatch {
  readonly startedAtMs: number;
  readonly phase: FanoutPhase;
  readonly sinceMs: number;
  /** Those that have not ended, packed: there may be a thousand. */
  readonly chunks: readonly PackedChunk[];
  /** Those that have ended: where their items are, and one record for all that they have reported. */
  readonly places: readonly PackedPlace[];
  readonly folded: ChunkRecord | null;
  /** Why the item that has waited longest does not go on by itself. */
  readonly blocked: string | null;
  readonly left: readonly LeftBehind[];
  /** How much of it is the batch's own; absent in what an older version carried. */
  readonly ownLeftCount?: number;
  readonly arrivedAtMs: number;
  /** When each clock was last due, in ms since the epoch, so that runs that follow each other fast do not starve it. */
  readonly clockedAtMs: Readonly<Partial<Record<BatchClock, number>>>;
  readonly seal: SealRequest | null;
  readonly source: ReadySource | null;
  readonly preparedSandboxId: string | null;
  readonly ending: { readonly reason: EndReason; readonly error: JobError | null; readonly atMs: number } | null;
  readonly throttle: Throttle;
  readonly leasedAtMs: number | null;
  readonly apiCalls: number;
}

/** A source that was found good. */
export interface ReadySource {
  readonly item: ItemSource;
  readonly type: MachineType;
  /** Null where the source is a named snapshot. */
  readonly sandboxId: string | null;
}

/** The input of the workflow: a user's, and what a resume or an earlier run adds. */
export interface BatchInput extends FanoutInput {
  /** Of the batch's first execution; absent in it. */
  readonly batchKey?: string;
  readonly resume?: {
    /** 1 for the first resume. */
    readonly round: number;
    readonly retryFailed: boolean;
  };
  readonly carried?: CarriedBatch;
}
