/** The one shape that `--json` prints for a job, whatever happened. */
import type { CollectedFile, JobError, JobResult } from '../../../workflows/job/types.js';
import type { SandboxIsolation } from '../connect/isolation.js';

export interface ReportedFile extends CollectedFile {
  /** Where it was written on this machine, or null. */
  readonly localPath: string | null;
}

export interface JobReport extends Omit<JobResult, 'jobId' | 'outcome' | 'files'> {
  /** Null where no job was reached. */
  readonly jobId: string | null;
  /** Null while the job is not finished, and where none was reached. */
  readonly outcome: JobResult['outcome'] | null;
  readonly files: readonly ReportedFile[];
  /** How sandboxes of a local service are isolated; null where it is not known. */
  readonly isolation: SandboxIsolation | null;
}

/** The report of a job that has ended. `error` stands in for the job's own where that is null. */
export function reportOf(result: JobResult, files: readonly ReportedFile[], error: JobError | null): JobReport {
  return { ...emptyReport(result.jobId, null), ...result, files, error: result.error ?? error };
}

/** The report where there is no result. */
export function emptyReport(jobId: string | null, error: JobError | null): JobReport {
  return {
    jobId,
    outcome: null,
    sandboxId: null,
    sandboxName: null,
    prompts: [],
    setup: null,
    stop: null,
    deletion: null,
    files: [],
    left: [],
    wakes: [],
    wakeCount: 0,
    apiCalls: 0,
    durationMs: 0,
    isolation: null,
    error,
  };
}
