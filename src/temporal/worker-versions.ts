/** The versions of the workers of a task queue, as Temporal's worker versioning knows them. */
import { type Client, isGrpcServiceError, type WorkflowExecutionInfo } from '@temporalio/client';
import { workerDeploymentName } from '../addresses/addresses.js';
import { SandflowError } from '../errors/sandflow-error.js';

/** A version of the workers of a task queue. */
export interface WorkerVersion {
  readonly buildId: string;
  /** True for the version that new workflows start with. */
  readonly isCurrent: boolean;
}

const grpcCodes = { notFound: 5, failedPrecondition: 9 };

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
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
    if (codeOf(error) === grpcCodes.notFound) return [];
    throw error;
  }
}

/** The running workflows that stay with a version, in no particular order. Visibility lags by a moment. */
export function heldBy(client: Client, taskQueue: string, buildId: string): AsyncIterable<WorkflowExecutionInfo> {
  const version = `${workerDeploymentName(taskQueue)}:${buildId}`;
  const query = `TemporalWorkerDeploymentVersion = '${version}' AND ExecutionStatus = 'Running'`;
  return client.workflow.list({ query, pageSize: 1_000 });
}

/**
 * Lets new workflows start with a version, and those move to it that continue as new. Safe to repeat.
 * @throws SandflowError `bad_argument` if no worker of it polls all task queues that the current one polls
 */
export async function switchVersion(client: Client, taskQueue: string, buildId: string): Promise<void> {
  try {
    await client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: client.options.namespace,
      deploymentName: workerDeploymentName(taskQueue),
      buildId,
      identity: client.options.identity,
    });
  } catch (error) {
    const code = codeOf(error);
    if (code !== grpcCodes.notFound && code !== grpcCodes.failedPrecondition) throw error;
    const message = `No worker of the version ${buildId} polls the task queue ${taskQueue}. Start one with SANDFLOW_BUILD_ID=${buildId}.`;
    throw new SandflowError('bad_argument', message, { cause: error });
  }
}
