/** Workers of several versions on one task queue. */
import type { NativeConnection } from '@temporalio/worker';
import { expect, inject, onTestFinished } from 'vitest';
import { switchVersion } from '../../../src/temporal/worker-versions.js';
import { createSandflowWorker, type SandflowWorkerOptions, workerVersion } from '../../../src/worker/index.js';
import { createStand, type Stand, type StandOptions, script, untilGo } from '../workflow-harness.js';

/** A stand whose workers tell no version yet, which `become` restarts with one. */
export async function openVersioned(options: Pick<StandOptions, 'temporalAddress'> = {}) {
  const worker: { -readonly [Key in keyof SandflowWorkerOptions]?: SandflowWorkerOptions[Key] } = {};
  const stand = await createStand({ ...options, worker });
  onTestFinished(() => stand.close());
  const become = async (buildId: string) => {
    worker.workerDeploymentOptions = workerVersion(stand.taskQueue, buildId);
    await stand.restartWorker();
    await switchVersion(stand.client, stand.taskQueue, buildId);
  };
  return { stand, become };
}

/** One more worker, until the test ends. New workflows start with its version. */
export async function startWorker(stand: Place, buildId: string): Promise<void> {
  await addWorker(stand, buildId);
  await switchVersion(stand.client, stand.taskQueue, buildId);
}

type Place = Pick<Stand, 'api' | 'client' | 'results' | 'taskQueue'>;

/** As `startWorker`, but new workflows do not start with it. */
export async function addWorker({ api, client, results, taskQueue }: Place, buildId: string): Promise<void> {
  const worker = await createSandflowWorker({
    ...{ connection: client.connection as NativeConnection, client: api, results, taskQueue },
    workflowBundle: { codePath: inject('workflowBundlePath') },
    workerDeploymentOptions: workerVersion(taskQueue, buildId),
    shutdownGraceTime: '1 second',
  });
  const running = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await running;
  });
}

export const held = { prompts: [{ prompt: script(untilGo) }] };

export const buildOf = async ({ client }: Stand, workflowId: string) =>
  (await client.workflow.getHandle(workflowId).describe()).raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion
    ?.buildId;

export async function promptedSandbox({ api }: Stand, not: readonly string[] = []): Promise<string> {
  const running = async () =>
    (await api.listAllSandboxes({})).find(({ id, state }) => state === 'running' && !not.includes(id))?.id;
  await expect.poll(running).toBeTruthy();
  return (await running()) ?? '';
}
