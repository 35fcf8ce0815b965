/** The results of a batch and its items. Types only. */
import type { MachineType } from '../../contract/workflow-safe/machine-types.js';
import type { SourceState } from '../../contract/workflow-safe/source-state.js';
import type { JobTimes } from '../job/job-progress.js';
import type { JobResult, LeftBehind } from '../job/job-result.js';
import type { FailureClass } from '../result-error-codes.js';
import type { FanoutOutcome, ItemOutcome } from './fanout-input.js';
import type { FanoutProgress } from './fanout-progress.js';

/** When an item's generation reached each step; null if it did not get there. */
export interface ItemTimes extends Omit<JobTimes, 'startedAt' | 'createdAt'> {
  /** When the chunk of the item started; null for an item that was not started. */
  readonly queuedAt: string | null;
  readonly forkedAt: string | null;
  /** When the item's fork was stopped or deleted. The result is stored before that, so it is null at first. */
  readonly endedAt: string | null;
}

/** One line of `results.jsonl`. The result store holds one object per item and generation. */
export interface ItemResult {
  readonly batchId: string;
  /** Id of the item, unique in its batch. */
  readonly itemId: string;
  /** Place of the item in the batch, from 0. */
  readonly index: number;
  /** From 1; 0 for an item that was not started. */
  readonly generation: number;
  /** How the item's newest generation ended. */
  readonly outcome: ItemOutcome;
  /** Whose failure that is; null if it completed or never started. Absent in results of earlier versions. */
  readonly failureClass?: FailureClass | null;
  /** False if no prompt can have been sent. Absent: unknown, or in results of earlier versions. */
  readonly wasPrompted?: boolean;
  /** The labels of the item; empty if it has none. */
  readonly labels: Readonly<Record<string, string>>;
  /** Machine size of the fork. */
  readonly type: MachineType;
  /** The state that all forks of the batch start from. Absent if the service does not show it. */
  readonly startsFrom?: SourceState;
  /** When the generation reached each step. */
  readonly times: ItemTimes;
  /** Machine-seconds from the fork to its end, weighted by machine size; charged to the budget. */
  readonly machineSeconds: number;
  /** Null for an item that was not started. */
  readonly job: JobResult | null;
  /** Why this version cannot read the stored result. Then only the item itself and the generation are known. */
  readonly unreadable?: string;
  /** The earlier attempts, oldest first. Absent if there are none. */
  readonly earlier?: readonly EarlierAttempt[];
}

/** An attempt that a newer one has replaced. The result store has its whole result. */
export interface EarlierAttempt {
  readonly generation: number;
  readonly outcome: ItemOutcome;
  /** Its first prompt, or the beginning of it; null if it was not prompted. */
  readonly prompt: string | null;
  /** Why it failed; null if it did not. */
  readonly error: string | null;
  readonly machineSeconds: number;
  /** Id of its fork; null if there was none. */
  readonly sandboxId: string | null;
}

/** The result of an item's workflow; the full result is in the result store. */
export interface ItemSummary
  extends Pick<ItemResult, 'index' | 'generation' | 'outcome' | 'failureClass' | 'wasPrompted' | 'machineSeconds'>,
    Pick<JobResult, 'sandboxId' | 'apiCalls' | 'error'> {
  /** False if the fork did not end as requested. */
  readonly endedAsAsked: boolean;
  /** Reference to the full result in the result store; null if it was not stored. */
  readonly resultRef: string | null;
  /** What the chunk must add to the stored result; null if that is complete. */
  readonly ending: ItemEnding | null;
  /** The first few entries that need attention. */
  readonly left: readonly LeftBehind[];
}

/** How an item ended, after it had stored its result. */
export interface ItemEnding {
  /** Key of the result in the result store. */
  readonly key: string;
  /** Fields of the result that have changed since. */
  readonly item: Partial<ItemResult>;
  /** Fields of the result's `job` that have changed since. */
  readonly job: Partial<JobResult>;
}

/** Result of the workflow. The items' results are in the result store. */
export interface FanoutResult extends FanoutProgress {
  readonly outcome: FanoutOutcome;
  /** Number of calls to the service. */
  readonly apiCalls: number;
  /** From start to end, in ms. */
  readonly durationMs: number;
  /** Reference of `results.jsonl`: one line per item, its newest generation, in the order of the batch. */
  readonly resultsRef: string | null;
  /**
   * The first 100 sandboxes and prompts that may still run: those that did not end as requested, and those that may
   * have been created but were not found.
   */
  readonly left: readonly LeftBehind[];
  /** Number of entries that do not fit in `left`; the items' results name all of them. */
  readonly leftMore: number;
  /** The sandboxes in `left` whose ids are known. */
  readonly leftSandboxIds: readonly string[];
}
