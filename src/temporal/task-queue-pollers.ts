/** Asks Temporal for which task queues of sandflow no worker takes new work. */
import type { Client } from '@temporalio/client';
import { followTaskQueue, forkTaskQueue, notifyTaskQueue } from '../addresses/addresses.js';

/** Values of Temporal's `TaskQueueType`. */
const queueTypes = { workflow: 1, activity: 2 } as const;

/** Of Temporal's `WorkerVersioningMode`. */
const versioned = 2;

/** The number of pollers of a task queue that get its new work: those of its current version, if it has one. */
async function pollers(client: Client, taskQueue: string, type: keyof typeof queueTypes): Promise<number> {
  const described = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: queueTypes[type],
  });
  const current = described.versioningInfo?.currentDeploymentVersion?.buildId || undefined;
  return (described.pollers ?? []).filter(({ deploymentOptions: of }) => {
    return (of?.workerVersioningMode === versioned ? of.buildId : undefined) === current;
  }).length;
}

/**
 * Names the queues without a poller that gets new work, of all that a job needs. A worker that ended minutes ago may still
 * be counted.
 */
export async function queuesWithoutWorker(client: Client, taskQueue: string): Promise<string[]> {
  const wanted = [
    { queue: taskQueue, type: 'workflow' },
    { queue: taskQueue, type: 'activity' },
    { queue: followTaskQueue(taskQueue), type: 'activity' },
    { queue: forkTaskQueue(taskQueue), type: 'activity' },
    { queue: notifyTaskQueue(taskQueue), type: 'activity' },
  ] as const;
  const counts = await Promise.all(wanted.map(({ queue, type }) => pollers(client, queue, type)));
  return wanted.flatMap(({ queue, type }, index) => (counts[index] === 0 ? [`${queue} (${type})`] : []));
}
