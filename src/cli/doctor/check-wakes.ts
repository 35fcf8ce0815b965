/** Checks that webhooks wake jobs. It finds what no other check sees, such as a URL that the service cannot reach. */
import type { Client } from '@temporalio/client';
import type { Wake } from '../../protocol/job/job-result.js';
import { jobHandle } from '../../workflow-client/jobs/job-client.js';
import { reportWakes } from '../../workflow-client/jobs/wake-report.js';
import { type ListJobsOptions, listJobs } from '../../workflow-client/list-executions.js';
import { polledText } from '../webhooks/polled-waits.js';
import { type Check, ok, skipped, warning } from './check.js';

const dayMs = 86_400_000;
/** Each is one call to Temporal. Few, so that the check is right again soon after a repair. */
const newestJobs = 5;

/** Call it only if a bridge is registered. @returns a warning if no webhook ended a wait of the newest jobs of the last day */
export async function checkWakes(client: Client, { deployment }: { readonly deployment: string }): Promise<Check> {
  const newest = { deployment, since: new Date(Date.now() - dayMs), limit: newestJobs };
  const report = await readWakes(client, newest)
    .then(reportWakes)
    .catch(() => undefined);
  if (report === undefined) return skipped('wakes', 'The results of the newest jobs cannot be read.');
  if (report.waits === 0) return skipped('wakes', 'No job of the last day has waited for a sandbox and ended.');
  const polled = polledText(report);
  if (polled === undefined)
    return ok('wakes', `In the newest jobs, webhooks ended ${report.byWebhook} of ${report.waits} waits.`);
  const mend = 'Check that the service can reach the registered URL. After a repair, run a job and repeat this check.';
  return warning('wakes', `In the newest jobs, ${polled}`, mend);
}

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
  return Promise.all(
    ended.map(async ({ jobId }) => {
      try {
        const { wakes } = await jobHandle(client, { deployment, jobId }).result();
        return Array.isArray(wakes) ? wakes : null;
      } catch {
        return null;
      }
    }),
  );
}
