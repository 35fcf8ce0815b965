/** What a job of the world told its user at its end. */

import type { JobError } from '../../../src/protocol/job/job-result.js';
import type { StopRequestView } from '../../../src/protocol/stop.js';
import type { JobResult } from '../../../workflows/index.js';

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
