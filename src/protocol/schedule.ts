/** What a schedule runs, and the result of each run. Types only. */
import type { CleanupInput } from './cleanup.js';
import type { FanoutInput } from './fanout/fanout-input.js';
import type { JobInput } from './job/job-input.js';

/** What one workflow is started with, besides its input. */
interface Start {
  /** Its memo, which lists show. */
  readonly memo: Readonly<Record<string, unknown>>;
  /** Its summary in Temporal. */
  readonly summary: string;
  /** Whether it is started with search attributes. Absent: false. */
  readonly searchAttributes?: boolean;
}

/** A job that a schedule starts. Each run adds its id. */
export interface ScheduledJob extends Start {
  readonly kind: 'job';
  readonly input: Omit<JobInput, 'jobId'>;
}

/** A batch that a schedule starts. Each run adds its id. */
export interface ScheduledBatch extends Start {
  readonly kind: 'batch';
  readonly input: Omit<FanoutInput, 'batchId'>;
  /** Reference to the `StoredItems` in the result store. */
  readonly itemsRef: string;
  /** Number of items. */
  readonly items: number;
}

/** A cleanup that a schedule starts. */
export interface ScheduledCleanup extends Start {
  readonly kind: 'cleanup';
  readonly input: CleanupInput;
}

/** What a schedule runs. It is stored when the schedule is added, and does not change with the files that it came from. */
export type ScheduledWork = ScheduledJob | ScheduledBatch | ScheduledCleanup;

/** The items of a batch, in the result store. */
export interface StoredItems {
  /** References to the chunks, in order; each is a `ChunkSubmission`. */
  readonly chunks: readonly string[];
  /** Number of items of all chunks. */
  readonly items: number;
}

/** The input of the `scheduledRun` workflow. */
export interface ScheduledRunInput {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Name of the schedule. */
  readonly schedule: string;
  /** What each run starts. */
  readonly work: ScheduledWork;
  /** When the schedule runs, as it was written. */
  readonly times: ScheduleTimes;
  /** The command that describes the work, for people: its words, without texts that files held. */
  readonly command: readonly string[];
}

/** When a schedule runs. */
export interface ScheduleTimes {
  /** A cron expression of five fields, or one of Temporal's forms such as `@daily` or `@every 6h`. */
  readonly cron: string;
  /** The IANA name of the time zone of `cron`, such as `Europe/Vienna`. */
  readonly zone: string;
}

/** The result of one run. */
export interface ScheduledRunResult {
  /** Id of the job, of the batch, or of the cleanup. */
  readonly id: string;
  /** False if something with this id had been started before. The run then did nothing. */
  readonly started: boolean;
  /** How it ended; null if it was not started, or if its workflow was terminated. */
  readonly outcome: string | null;
}

/** The memo of a run, for lists. */
export interface ScheduledRunMemo {
  readonly schedule: string;
  /** Null until the run has started its work. */
  readonly id: string | null;
  /** Null until the work has ended, and if it was not started or was terminated. */
  readonly outcome: string | null;
}
