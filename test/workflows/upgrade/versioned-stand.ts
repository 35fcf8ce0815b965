/** Workers of several versions on one task queue. */
import type { NativeConnection } from '@temporalio/worker';
import { expect, inject, onTestFinished } from 'vitest';
import { switchVersion, workerVersions } from '../../../src/temporal/worker-versions.js';
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
    await expect.poll(() => buildsOf(stand)).toContain(buildId);
    // All task queues must have polled.
    await expect.poll(() => switched(stand, buildId)).toBe(true);
  };
  return { stand, become };
}

const buildsOf = async ({ client, taskQueue }: Stand) =>
  (await workerVersions(client, taskQueue)).map(({ buildId }) => buildId);

const switched = ({ client, taskQueue }: Stand, buildId: string) =>
  switchVersion(client, taskQueue, buildId).then(
    () => true,
    () => false,
  );

/** One more worker, until the test ends. */
export async function startWorker({ api, client, results, taskQueue }: Stand, buildId: string): Promise<void> {
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
  await expect.poll(() => switched({ client, taskQueue } as Stand, buildId)).toBe(true);
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
