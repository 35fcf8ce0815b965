/** Reads the wakes of the jobs that have ended. */
import type { Client } from '@temporalio/client';
import type { Wake } from '../../protocol/job/job-result.js';
import { type ListJobsOptions, listJobs } from '../list-executions.js';
import { jobHandle } from './job-client.js';

/** Each result is one call to Temporal. */
const atOnce = 16;

/**
 * Reads the results of the newest jobs that have ended, without items of batches.
 * @returns the wakes of each job; null for a job without a readable result
 * @throws SandflowError `bad_configuration`
 */
export async function readWakes(
  client: Client,
  options: Pick<ListJobsOptions, 'deployment' | 'since' | 'limit'>,
): Promise<(readonly Wake[] | null)[]> {
  const { deployment } = options;
  const ended = (await listJobs(client, options)).filter(({ status }) => status === 'completed');
  const found: (readonly Wake[] | null)[] = [];
  for (let at = 0; at < ended.length; at += atOnce) {
    const page = ended.slice(at, at + atOnce).map(async ({ jobId }) => {
      try {
        return (await jobHandle(client, { deployment, jobId }).result()).wakes;
      } catch {
        return null;
      }
    });
    found.push(...(await Promise.all(page)));
  }
  return found;
}
