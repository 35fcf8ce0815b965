/**
 * After the answer, lists the notifications of a job that have not been delivered. The answer does not wait for them.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { jobWorkflowId, notificationPrefix } from '../../addresses/addresses.js';
import { workflowTypes } from '../../protocol/messages.js';
import { chainStart } from '../../temporal/chain-start.js';
import { describeJob, type JobAddress } from '../../workflow-client/jobs/job-client.js';
import { describeDelivery } from '../../workflow-client/open-deliveries.js';
import type { Platform } from '../connect/platform.js';
import { oneLine } from '../output/terminal-safe.js';
import { targetText } from './notify-target.js';

/** How long it waits for deliveries that are open, in ms, and for one to be listed: Temporal's lists lag. */
const withinMs = 4_000;
const lagMs = 2_000;
const pauseMs = 200;

/** Never throws, because the job has ended independent of its notification. */
export async function warnUndelivered(
  { temporal }: Pick<Platform, 'temporal'>,
  job: JobAddress,
  { target, warn }: { readonly target: string; readonly warn: (text: string) => void },
): Promise<void> {
  try {
    // Deliveries of earlier executions do not count.
    const since = chainStart(await describeJob(temporal, job)).toISOString();
    const own = notificationPrefix(jobWorkflowId(job.deployment, job.jobId));
    const query = `WorkflowType = '${workflowTypes.deliverNotification}' AND WorkflowId STARTS_WITH '${own}/' AND StartTime >= '${since}'`;
    for (const beganMs = Date.now(); ; await sleep(pauseMs)) {
      const found: WorkflowExecutionInfo[] = [];
      for await (const delivery of temporal.workflow.list({ query })) found.push(delivery);
      const isOpen = found.some(({ status }) => status.name === 'RUNNING');
      if ((isOpen || found.length === 0) && Date.now() - beganMs < (isOpen ? withinMs : lagMs)) continue;
      const [first] = found.filter(({ status }) => status.name !== 'COMPLETED');
      if (!first) return;
      const { lastError } = await describeDelivery(temporal, first);
      const why = lastError === null ? '' : `: ${oneLine(lastError).replace(/\.$/, '')}`;
      const next = isOpen ? 'It is repeated for a day while a worker runs.' : 'It is not repeated.';
      return warn(`The notification to ${targetText(target)} is not delivered${why}. ${next}`);
    }
  } catch {
    // Temporal cannot be reached. The delivery continues when it can be reached again.
  }
}
