/** The object that `--json` prints for a job. It has the same fields for every outcome. */
import type { CollectedFile, JobError, JobResult, PromptResult } from '../../protocol/job/job-result.js';
import type { SandboxIsolation } from './isolation.js';

export interface ReportedFile extends CollectedFile {
  /** Where the file was saved on this machine; null if it was not. */
  readonly localPath: string | null;
}

export interface JobReport extends Omit<JobResult, 'jobId' | 'outcome' | 'files'> {
  /** Null if no job was reached. */
  readonly jobId: string | null;
  /** Null while the job is not finished, and if no job was reached. */
  readonly outcome: JobResult['outcome'] | null;
  readonly files: readonly ReportedFile[];
  /** How sandboxes of a local service are isolated; null if unknown. */
  readonly isolation: SandboxIsolation | null;
}

/** Builds the report of a job that has ended. `error` is used if the job itself has no error. */
export function reportOf(result: JobResult, files: readonly ReportedFile[], error: JobError | null): JobReport {
  return { ...emptyReport(result.jobId, null), ...result, files, error: result.error ?? error };
}

/** Builds a report without a result. */
export function emptyReport(jobId: string | null, error: JobError | null): JobReport {
  return {
    jobId,
    outcome: null,
    failureClass: null,
    sandboxId: null,
    sandboxName: null,
    prompts: [],
    rounds: [],
    after: [],
    always: [],
    setup: null,
    stop: null,
    deletion: null,
    files: [],
    degraded: null,
    left: [],
    wakes: [],
    wakeCount: 0,
    phases: [],
    apiCalls: 0,
    durationMs: 0,
    isolation: null,
    error,
  };
}

/**
 * Restores results that were cut. If the store lacks the whole result, the cut one stays. `resultRef` refers to the
 * whole result.
 */
export function withWholeResults(
  prompts: readonly PromptResult[],
  read: (ref: string) => Promise<Buffer>,
): Promise<PromptResult[]> {
  return Promise.all(
    prompts.map(async (prompt) => {
      if (prompt.resultRef === null) return prompt;
      const whole = await read(prompt.resultRef).catch(() => undefined);
      return whole ? { ...prompt, result: whole.toString('utf8') } : prompt;
    }),
  );
}
