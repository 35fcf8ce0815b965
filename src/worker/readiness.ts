import type { NativeConnection, Worker } from '@temporalio/worker';
import { clientOfWorker } from '../temporal/connect-worker.js';
import { createProbe, type Probe } from '../temporal/probe.js';

/** Says why the workers of a process take no tasks now. */
export function createReadiness(
  workers: readonly Pick<Worker, 'getStatus'>[],
  { connection, namespace }: { readonly connection: NativeConnection; readonly namespace: string },
): Probe {
  return createProbe(clientOfWorker({ connection, namespace }), async (answers) => {
    const problem = problemOf(workers);
    if (problem !== undefined) return problem;
    // Unlike a question about the server, this one also fails if the namespace or the access to it is gone.
    const isReached = await answers(({ workflowService }) => workflowService.describeNamespace({ namespace }));
    return isReached ? undefined : 'Temporal cannot be reached, or refuses the namespace';
  });
}

function problemOf(workers: readonly Pick<Worker, 'getStatus'>[]): string | undefined {
  const statuses = workers.map((worker) => worker.getStatus());
  if (statuses.some(({ runState }) => runState === 'INITIALIZED')) return 'the worker starts';
  if (statuses.some(({ runState }) => runState !== 'RUNNING')) return 'the worker stops';
  const failed = statuses.some((status) => [status.workflowPollerState, status.activityPollerState].includes('FAILED'));
  return failed ? 'a poller has failed' : undefined;
}
