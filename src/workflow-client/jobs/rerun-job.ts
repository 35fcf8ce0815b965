/** Starts a job again from the input of an earlier one. */

import type { Client } from '@temporalio/client';
import { maxDeploymentAndJobIdLength } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { JobExecution, JobInput } from '../../protocol/job/job-input.js';
import { requireOptions } from '../../settings/required-options.js';
import { requireClient } from '../../temporal/own-copy.js';
import { firstInput } from '../first-input.js';
import { contentDigest } from '../input-digest.js';
import { type Labels, labelsIn } from '../labels.js';
import { differingJob } from './differing-input.js';
import {
  askedJob,
  describeJob,
  type JobAddress,
  type StartedJob,
  type StartJobOptions,
  startJob,
} from './job-client.js';
import { badJob, parseJobInput } from './job-input.js';

/** Options of `rerunJob`. */
export interface RerunJobOptions extends StartJobOptions {
  /** Id of the new job. */
  readonly newJobId: string;
}

/** What an earlier job was started with. */
export interface EarlierJob {
  readonly input: JobInput;
  readonly labels: Labels;
}

/**
 * Starts a new job with the input and the labels of an earlier one, which may still run. Prompts that were sent to the
 * earlier job later are not part of its input. Safe to repeat with the same `newJobId`.
 * @throws SandflowError `job_not_found`, also if Temporal no longer has the input; `not_a_job`; `job_differs` if
 * `newJobId` belongs to a job with another input; `bad_job_input` if it is the id of the earlier job; and as `startJob`
 * @example
 * const { handle } = await rerunJob(client, { deployment, jobId: 'fix-1' }, { newJobId: 'fix-2', taskQueue });
 */
export async function rerunJob(
  client: Client,
  job: JobAddress,
  { newJobId, ...options }: RerunJobOptions,
): Promise<StartedJob> {
  if (newJobId === job.jobId) throw badJob('the new job needs another id than the earlier one');
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text' });
  const earlier = await inputOfEarlier(client, job);
  const labels = options.labels ?? earlier.labels;
  const again = { ...earlier.input, jobId: newJobId };
  const found = await startJob(client, again, { ...options, labels });
  if (!found.started) await requireSame(client, parseJobInput(again));
  return found;
}

/**
 * The id for the rerun of one run of a job: always the same, so that a repeated rerun starts nothing.
 * @param runId of the job, or of a rerun of it
 */
export function rerunIdOf({ deployment, jobId }: JobAddress, runId: string): string {
  const suffix = `-r${contentDigest(runId).slice(0, 8)}`;
  const room = maxDeploymentAndJobIdLength - deployment.length - suffix.length;
  return `${jobId.slice(0, room).replace(/-$/, '')}${suffix}`;
}

/**
 * Reads what `rerunJob` starts again.
 * @throws SandflowError as `rerunJob`
 */
export async function inputOfEarlier(client: Client, job: JobAddress): Promise<EarlierJob> {
  const there = await describeJob(client, job);
  const earlier = await firstInput<JobExecution>(client, askedJob(job), there);
  if (!earlier) throw new SandflowError('job_not_found', `Temporal no longer has the input of the job "${job.jobId}".`);
  const { carried: _, ...input } = earlier;
  return { input, labels: labelsIn(there.memo?.labels) };
}

/** @throws SandflowError `job_differs` if the job with the id of `input` was started with another input */
export async function requireSame(client: Client, input: JobInput): Promise<void> {
  const { fields } = await differingJob(client, input);
  if (fields?.length === 0) return;
  const others = fields === null ? '' : `: ${fields.join(', ')}`;
  const message = `The job "${input.jobId}" exists, and was started with other values${others}. Nothing was started. Choose another id.`;
  throw new SandflowError('job_differs', message);
}
