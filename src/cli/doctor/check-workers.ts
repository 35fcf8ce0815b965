/** Checks in Temporal that workers poll the task queues of jobs. */

import type { Client } from '@temporalio/client';
import type { Config } from '../../config.js';
import { queuesWithoutWorker } from '../../temporal/task-queue-pollers.js';
import { programName } from '../program-name.js';
import { type Check, failed, ok } from './check.js';

export async function checkWorkers(client: Client, config: Pick<Config, 'taskQueue'>): Promise<Check> {
  const missing = await queuesWithoutWorker(client, config.taskQueue);
  if (missing.length === 0) return ok('workers', `Workers poll ${config.taskQueue}.`);
  return failed(
    'workers',
    `No worker polls ${missing.join(', ')}.`,
    `Start one with \`${programName} worker\`, with the same SANDFLOW_TASK_QUEUE, namespace and address.`,
  );
}
