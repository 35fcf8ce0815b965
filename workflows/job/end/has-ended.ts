/** Whether the sandbox of a job has ended as requested. Pure. */
import type { JobEnd } from '../../../src/protocol/job/job-input.js';
import type { JobResult } from '../../../src/protocol/job/job-result.js';

/** True if the job's sandbox was stopped or deleted as requested, or no longer exists. */
export function hasEndedAsRequested(job: Pick<JobResult, 'sandboxId' | 'stop' | 'deletion'>, end: JobEnd): boolean {
  if (job.sandboxId === null || end === 'keep') return true;
  const { status } = (end === 'stop' ? job.stop : job.deletion) ?? { status: 'not_asked' };
  return status === 'completed' || status === 'gone';
}
