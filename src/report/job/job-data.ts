/** The input of the report of a job. Types only. */
import type { JobProgress, JobTimes } from '../../protocol/job/job-progress.js';
import type { JobResult } from '../../protocol/job/job-result.js';
import type { ReportContext } from '../page-data.js';

/**
 * What an agent said, did or used. `prompt` is the number of the prompt in the job, from 1; null if it is unknown. `at` is an
 * ISO 8601 time; null if it is unknown.
 */
export type AgentStep = { readonly at: string | null; readonly prompt: number | null } & (
  | { readonly kind: 'message'; readonly text: string }
  /** A tool other than the shell. */
  | {
      readonly kind: 'tool';
      readonly tool: string;
      readonly detail: string;
      readonly failed: boolean;
      readonly output: string;
    }
  /** The tokens that it used, in words. */
  | { readonly kind: 'usage'; readonly text: string }
  | { readonly kind: 'command'; readonly command: string; readonly exitCode: number | null; readonly output: string }
);

/** The known data of a job, running or ended. */
export interface JobReportData extends ReportContext {
  readonly jobId: string;
  /** Null while the job runs, and if it ended without a result. */
  readonly outcome: JobResult['outcome'] | null;
  readonly isRunning: boolean;
  readonly startedAt: string;
  /** When the job ended; null while it runs. */
  readonly endedAt: string | null;
  /** Null if the job runs, or if no worker could tell. */
  readonly times: JobTimes | null;
  /** Machine size of the sandbox; null if unknown. */
  readonly machineType: string | null;
  readonly deadlineAt: string | null;
  readonly blocked: JobProgress['blocked'];
  /** What a running job does, and which calls it waits for, a sentence each. */
  readonly doing: readonly string[];
  /** Set if the service reported the sandbox as degraded. */
  readonly degraded?: JobResult['degraded'];
  readonly sandboxId: string | null;
  readonly sandboxName: string | null;
  /** With the full texts, if the result store has them. */
  readonly prompts: JobResult['prompts'];
  /** In order. Empty if there is no history. */
  readonly steps: readonly AgentStep[];
  readonly setup: JobResult['setup'];
  readonly stop: JobResult['stop'];
  readonly deletion: JobResult['deletion'];
  readonly files: JobResult['files'];
  /** Relative paths of downloaded copies, by the path in the sandbox. */
  readonly copies: ReadonlyMap<string, string>;
  /** Beginnings of collected text files, by their reference in the result store. */
  readonly previews: ReadonlyMap<string, string>;
  readonly left: JobResult['left'];
  readonly wakes: JobResult['wakes'];
  readonly wakeCount: number;
  readonly apiCalls: number;
  readonly error: JobResult['error'];
  /** When the report is created; ISO 8601. */
  readonly generatedAt: string;
}
