/** Starts a job again from the input of an earlier one. */
import type { Client } from '@temporalio/client';
import type { JobExecution } from '../../../workflows/job/carry-over.js';
import { SandflowError } from '../../contract/errors/sandflow-error.js';
import { firstInput } from '../first-input.js';
import { labelsIn } from '../labels.js';
import { askedJob, describeJob, type JobAddress, type StartedJob, type StartJobOptions, startJob } from './client.js';

/** Options of `rerunJob`. */
export interface RerunJobOptions extends StartJobOptions {
  /** Id of the new job. */
  readonly newJobId: string;
}

/**
 * Starts a new job with the input and the labels of an earlier one, which may still run. Prompts that were sent to the
 * earlier job later are not part of its input. Safe to repeat with the same `newJobId`.
 * @throws SandflowError `job_not_found`, also if Temporal no longer has the input; `not_a_job`; and as `startJob`
 */
export async function rerunJob(
  client: Client,
  job: JobAddress,
  { newJobId, ...options }: RerunJobOptions,
): Promise<StartedJob> {
  const there = await describeJob(client, job);
  const earlier = await firstInput<JobExecution>(client, askedJob(job), there);
  if (!earlier) throw new SandflowError('job_not_found', `Temporal no longer has the input of the job "${job.jobId}".`);
  const { carried: _, ...input } = earlier;
  const labels = options.labels ?? labelsIn(there.memo?.labels);
  return startJob(client, { ...input, jobId: newJobId }, { ...options, labels });
}
