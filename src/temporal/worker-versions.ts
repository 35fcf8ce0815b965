/** The versions of the workers of a task queue, as Temporal's worker versioning knows them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { workerDeploymentName } from '../addresses/addresses.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { isFailedPrecondition, isNotFound } from './errors.js';

/** A version of the workers of a task queue. */
export interface WorkerVersion {
  readonly buildId: string;
  /** True for the version that new workflows start with. */
  readonly isCurrent: boolean;
}

/** All versions whose workers have polled, in no particular order; none before the first. */
export async function workerVersions(client: Client, taskQueue: string): Promise<WorkerVersion[]> {
  try {
    const { workerDeploymentInfo: info } = await client.workflowService.describeWorkerDeployment({
      namespace: client.options.namespace,
      deploymentName: workerDeploymentName(taskQueue),
    });
    const current = info?.routingConfig?.currentDeploymentVersion?.buildId;
    const ids = (info?.versionSummaries ?? []).flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? []);
    return ids.map((buildId) => ({ buildId, isCurrent: buildId === current }));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** The running workflows that stay with a version, in no particular order. Visibility lags by a moment. */
export function heldBy(client: Client, taskQueue: string, buildId: string): AsyncIterable<WorkflowExecutionInfo> {
  const version = `${workerDeploymentName(taskQueue)}:${buildId}`;
  const query = `TemporalWorkerDeploymentVersion = '${version}' AND ExecutionStatus = 'Running'`;
  return client.workflow.list({ query, pageSize: 1_000 });
}

/** A worker that polls is known to all parts of Temporal a moment later. */
const patienceMs = 15_000;
const pauseMs = 1_000;

/**
 * Lets new workflows start with a version, and those move to it that continue as new. Safe to repeat.
 * @throws SandflowError `bad_argument` with what Temporal says, if no worker of it polls all task queues that the current
 * one polls
 */
export async function switchVersion(client: Client, taskQueue: string, buildId: string): Promise<void> {
  const untilMs = Date.now() + patienceMs;
  for (;;) {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion({
        namespace: client.options.namespace,
        deploymentName: workerDeploymentName(taskQueue),
        buildId,
        identity: client.options.identity,
      });
      return;
    } catch (error) {
      if (!isNotFound(error) && !isFailedPrecondition(error)) throw error;
      if (Date.now() > untilMs) throw notPolled(taskQueue, buildId, error);
    }
    await sleep(pauseMs);
  }
}

function notPolled(taskQueue: string, buildId: string, cause: unknown): SandflowError {
  const { details, message: said } = cause as Error & { readonly details?: string };
  const mend = `Start its workers with SANDFLOW_BUILD_ID=${buildId}, and keep them running`;
  const message = `No worker of the version ${buildId} polls all task queues of ${taskQueue}: ${(details || said).replace(/\.$/, '')}. ${mend}.`;
  return new SandflowError('bad_argument', message, { cause });
}
