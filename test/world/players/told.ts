/** What a job of the world told its user at its end. */

import type { ByClass } from '../../../src/protocol/failure-class.js';
import type { BatchHold } from '../../../src/protocol/fanout/fanout-progress.js';
import type { FanoutResult, ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import type { StopRequestView } from '../../../src/protocol/stop.js';
import type { JobResult } from '../../../workflows/index.js';

/** A batch that was held, when none of its items ran any more. */
export interface Hold extends Pick<BatchHold, 'since' | 'by' | 'code' | 'count'> {
  /** How many of its items had got a fork by then, since the batch began. */
  readonly started: number;
}

/** One end of a batch. */
export interface BatchEnd extends Pick<FanoutResult, 'outcome' | 'error' | 'sources' | 'left'> {
  /** When it was told, in ms since the epoch. */
  readonly atMs: number;
  readonly items: readonly ItemResult[];
}

export interface Told {
  readonly job: string;
  /** Prefix of the ids of its workflows. */
  readonly workflowId: string;
  readonly outcome: string;
  /** Why a batch ended before its items. */
  readonly error?: JobError | null | undefined;
  /** Results of jobs: of the one job, or of all items. */
  readonly jobs: readonly JobResult[];
  /** Ids and names of sandboxes in `left`. */
  readonly left: readonly string[];
  readonly saysArchived: readonly string[];
  readonly saysDeleted: readonly string[];
  /** Sandboxes of a person that the job was given. */
  readonly given: readonly string[];
  /** Prompts of others in these sandboxes. */
  readonly othersPromptIds: readonly string[];
  /** True if somebody terminated the workflow: it told nothing. */
  readonly isTerminated: boolean;
  /** Of a batch whose items fail alike: each time that it was held, in order. */
  readonly holds?: readonly Hold[];
  /** Of a batch: its ends, in order. A resume brings another one. */
  readonly ends?: readonly BatchEnd[];
  /** Of a batch: its failed items by the class of their failures. */
  readonly byClass?: ByClass;
  /** The ends of the requests of a stop, and when the service had accepted all of them; null if it refused one. */
  readonly stops?: {
    readonly views: readonly StopRequestView[];
    readonly acceptedAtMs: number | null;
    /** When each request was answered with its stop, in ms since the epoch; null if it was not. */
    readonly bindings: readonly (number | null)[];
  };
}

/** The part of the result that names sandboxes. */
export function tellingOf(result: JobResult): Pick<Told, 'jobs' | 'left' | 'saysArchived' | 'saysDeleted'> {
  const { sandboxId, stop, deletion, left } = result;
  return {
    jobs: [result],
    left: left.flatMap((one) => [one.sandboxId ?? [], one.sandboxName ?? []].flat()),
    saysArchived: sandboxId !== null && stop?.status === 'completed' ? [sandboxId] : [],
    saysDeleted: sandboxId !== null && deletion?.status === 'completed' ? [sandboxId] : [],
  };
}
