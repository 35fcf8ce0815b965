import type { WorkerDeploymentOptions } from '@temporalio/worker';
import { workerDeploymentName } from '../addresses/addresses.js';

/**
 * Options of a worker of this build, for Temporal's worker versioning. Every workflow stays with the build that it
 * started on. Those without an end of their own, such as a batch, continue as new on a newer one.
 * @example
 * const workerDeploymentOptions = workerVersion(taskQueue, '1.4.2');
 * const worker = await createSandflowWorker({ connection, client: api, results, taskQueue, workerDeploymentOptions });
 */
export function workerVersion(taskQueue: string, buildId: string): WorkerDeploymentOptions {
  return {
    version: { deploymentName: workerDeploymentName(taskQueue), buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  };
}
