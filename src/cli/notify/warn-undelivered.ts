/**
 * After the answer, lists the notifications of a job that have not been delivered. The answer does not wait for them.
 */
import { jobWorkflowId } from '../../addresses/addresses.js';
import { chainStart } from '../../temporal/chain-start.js';
import { describeJob, type JobAddress } from '../../workflow-client/jobs/job-client.js';
import { undeliveredNotifications } from '../../workflow-client/jobs/undelivered-notifications.js';
import type { Platform } from '../connect/platform.js';
import { oneLine } from '../output/terminal-safe.js';
import { targetText } from './notify-target.js';

const withinMs = 4_000;

/** Never throws, because the job has ended independent of its notification. */
export async function warnUndelivered(
  { temporal }: Pick<Platform, 'temporal'>,
  job: JobAddress,
  { target, warn }: { readonly target: string; readonly warn: (text: string) => void },
): Promise<void> {
  try {
    const since = chainStart(await describeJob(temporal, job));
    const workflowId = jobWorkflowId(job.deployment, job.jobId);
    const undelivered = await undeliveredNotifications(temporal, workflowId, { since, withinMs });
    const [first] = undelivered;
    if (!first) return;
    const why = first.lastError === null ? '' : `: ${oneLine(first.lastError).replace(/\.$/, '')}`;
    const next = first.isAbandoned ? 'It is not repeated.' : 'It is repeated for a day while a worker runs.';
    warn(`The notification to ${targetText(target)} is not delivered${why}. ${next}`);
  } catch {
    // Temporal cannot be reached. The delivery continues when it can be reached again.
  }
}
