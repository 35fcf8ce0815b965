/** The progress of a `forkFanout` batch. Types only. */
import type { ByClass } from '../failure-class.js';
import type { JobError } from '../job/job-result.js';
import type { FanoutOutcome, ItemOutcome } from './fanout-input.js';

/** Counts of a batch. `queued`, `running` and the outcomes add up to `items`. */
export interface FanoutCounts {
  readonly items: number;
  /** Number of items that wait for their turn. */
  readonly queued: number;
  readonly running: number;
  readonly completed: number;
  /** Number of final failures: every outcome except `completed`, `cancelled` and `not_started`. */
  readonly failed: number;
  /** Number of generations beyond each item's first. */
  readonly retried: number;
  readonly byOutcome: Readonly<Partial<Record<ItemOutcome, number>>>;
  /** The failed items by whose failure it is. Those of earlier versions are missing. */
  readonly byClass?: ByClass;
}

/** Why a batch starts no more items until a person decides. */
export interface BatchHold {
  /** `breaker`: too many equal permanent failures in a row. `canary`: all canaries failed alike. */
  readonly by: 'breaker' | 'canary';
  /** How those items ended. */
  readonly outcome: ItemOutcome;
  /** Code of their error; null without one. */
  readonly code: string | null;
  /** Number of these items. */
  readonly count: number;
  /** ISO 8601 time. */
  readonly since: string;
}

/** The phase of a batch. */
export type FanoutPhase = 'preparing' | 'checking_source' | 'running' | 'ending' | 'ended';

/** Numbers of sources, by how far they are. */
export interface SourceCounts {
  readonly waiting: number;
  readonly preparing: number;
  readonly ready: number;
  /** Those that no item needs any more. */
  readonly ended: number;
  /** Those from which no item could start, or not every one. */
  readonly failed: number;
}

/** Result of the progress query. Its cost does not depend on the number of items. */
export interface FanoutProgress {
  readonly batchId: string;
  /** Run id of the batch's first execution; locates its objects in the result store. */
  readonly batchKey: string;
  /** The title of the batch; null if it has none. */
  readonly title: string | null;
  readonly phase: FanoutPhase;
  /** When the batch entered this phase, as an ISO 8601 time. */
  readonly since: string;
  /** ISO 8601 time. */
  readonly startedAt: string;
  /** Hard deadline of the batch, as an ISO 8601 time. */
  readonly deadlineAt: string;
  /** The sandbox that all items are forked from; null until it is known. */
  readonly sourceSandboxId: string | null;
  /** True once all items are submitted. */
  readonly sealed: boolean;
  readonly chunks: number;
  readonly counts: FanoutCounts;
  /** State of the budget of machine-seconds. */
  readonly budget: {
    readonly limitSeconds: number | null;
    readonly spentSeconds: number;
    readonly reservedSeconds: number;
  };
  /** Until when forks wait because the service throttles them; null if they do not wait. */
  readonly throttledUntil: string | null;
  /** Why the batch cannot continue by itself; null if it can. */
  readonly blocked: { readonly message: string; readonly since: string } | null;
  /** Set while the batch is held, and if it ended so. `resumeFanout` lets it go on. */
  readonly held?: BatchHold;
  /** The sources that only some of the items name. Absent if there are none. */
  readonly sources?: SourceCounts;
  /** How the batch ended; null while it runs. */
  readonly outcome: FanoutOutcome | null;
  /**
   * What the batch lacks although its outcome does not tell it, in words, such as `1 file missing`; null if nothing, and
   * while it runs.
   */
  readonly shortfall: string | null;
  /** Why the batch failed; null if it did not. */
  readonly error: JobError | null;
}
