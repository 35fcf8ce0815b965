/** A worker that people have, with `SandflowPlugin`. In the gate: it makes two bundles, some 10 CPU seconds. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import {
  type ActivityInterceptorsFactory,
  bundleWorkflowCode,
  NativeConnection,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { followTaskQueue, forkTaskQueue, jobWorkflowId, notifyTaskQueue } from '../../src/addresses/addresses.js';
import { createEncryptedDataConverter } from '../../src/encryption/index.js';
import { createSandflowWorker, encryptedBundle, SandflowPlugin } from '../../src/worker/index.js';
import { createWorker } from '../unit/house/snippets/plugin.js';
import { ringOf } from './encryption/encrypted-harness.js';
import type { fix, review } from './own/with-plugin.js';
import { createStand, deployment, type Stand, script } from './workflow-harness.js';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const workflowsPath = pathOf('own/with-plugin.ts');
const version = { deploymentName: 'yours', buildId: 'one' };
const workerDeploymentOptions = { version, useWorkerVersioning: false } as const;
const slots = { type: 'fixed-size', numSlots: 10 } as const;

let stand: Stand;
let connection: NativeConnection;
let home: string;
beforeAll(async () => {
  stand = await createStand();
  home = await mkdtemp(join(tmpdir(), 'sandflow-plugin-'));
  vi.stubEnv('SANDFLOW_HOME', home);
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
});
afterAll(async () => {
  await connection.close();
  await stand.close();
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

const queuesOf = (taskQueue: string) => [
  taskQueue,
  followTaskQueue(taskQueue),
  forkTaskQueue(taskQueue),
  notifyTaskQueue(taskQueue),
];

/** The pollers of a queue of activities. */
async function pollersOf(taskQueue: string) {
  const asked = { namespace: 'default', taskQueue: { name: taskQueue }, taskQueueType: 2 };
  return (await stand.client.workflowService.describeTaskQueue(asked)).pollers ?? [];
}

/** A plugin of yours that notes which activities pass, by queue. */
function noting(name: string, seen: string[]) {
  const note: ActivityInterceptorsFactory = ({ info }) => ({
    inbound: {
      execute(input, next) {
        const { workflowId } = info.workflowExecution ?? {};
        seen.push([name, info.taskQueue, info.activityType, workflowId, info.activityId, info.attempt].join(' '));
        return next(input);
      },
    },
  });
  const activity = (of: WorkerOptions) => [...(of.interceptors?.activity ?? []), note];
  return {
    name,
    configureWorker: (of: WorkerOptions) => ({ ...of, interceptors: { ...of.interceptors, activity: activity(of) } }),
  };
}

describe('a worker of yours with the plugin', () => {
  it('runs your workflows with jobs as children, sandboxes of their own and single endpoints, and all four queues with your interceptors and your version', async () => {
    const taskQueue = 'yours';
    const seen: string[] = [];
    // A plugin of the connection is one of each of its workers.
    const plugins = [noting('of the connection', seen)];
    const plugged = await NativeConnection.connect({ address: inject('temporalAddress'), plugins });
    const options = {
      connection: plugged,
      taskQueue,
      identity: 'your worker',
      workflowsPath,
      plugins: [noting('of the worker', seen)],
      activities: { label: async (name: string) => `the label of ${name}` },
      workerDeploymentOptions,
    };
    const worker = await createWorker(options, stand.service.url, 'test-key');
    const running = worker.run();
    const { workflow } = stand.client;
    const at = (id: string) => ({ workflowId: jobWorkflowId(deployment, id), taskQueue });
    // Longer than the main queue follows a prompt.
    const args: Parameters<typeof fix> = [deployment, 'yours-child', script('sleep 3; echo fixed')];
    const [fixed, reviewed] = await Promise.all([
      workflow.execute<typeof fix>('fix', { ...at('yours-fix'), args }),
      workflow.execute<typeof review>('review', at('yours-review')),
    ]);
    expect(fixed).toEqual([expect.stringContaining('fixed'), 'checked\n']);
    expect(reviewed).toMatchObject({
      label: expect.stringContaining('the label of'),
      prompt: { promptId: expect.any(String) },
    });

    for (const queue of queuesOf(taskQueue)) {
      expect(await pollersOf(queue), queue).toMatchObject([{ identity: 'your worker', deploymentOptions: version }]);
    }
    for (const by of ['of the worker', 'of the connection']) {
      expect(seen).toContainEqual(expect.stringContaining(`${by} ${followTaskQueue(taskQueue)} followPrompt`));
    }
    expect(seen).toHaveLength(new Set(seen).size);

    // Its calls were counted, and its history is that of the same code.
    const child = workflow.getHandle(jobWorkflowId(deployment, 'yours-child'));
    expect(((await child.result()) as { apiCalls: number }).apiCalls).toBeGreaterThan(3);
    const replay = { workflowsPath, plugins: [new SandflowPlugin()] };
    await Worker.runReplayHistory(
      replay,
      await workflow.getHandle(jobWorkflowId(deployment, 'yours-fix')).fetchHistory(),
    );

    worker.shutdown();
    await running;
    // A connection that a worker still holds refuses this.
    await plugged.close();
  });

  it('encrypts once, with a bundle that the plugin made, also if the connection has a plugin of its own', async () => {
    const taskQueue = 'yours-encrypted';
    const ring = ringOf('one');
    const converter = () => createEncryptedDataConverter(ring, { requireEncrypted: true });
    const sandflow = new SandflowPlugin({ client: stand.api, results: stand.results, dataConverter: converter() });
    const ofConnection = [new SandflowPlugin({ dataConverter: converter() })];
    const own = await NativeConnection.connect({ address: inject('temporalAddress'), plugins: ofConnection });
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, plugins: [sandflow] });
    const options = { connection: own, taskQueue, activities: { label: async () => 'label' } };
    const clear = { codePath: inject('workflowBundlePath') };
    const refused = Worker.create({ ...options, workflowBundle: clear, plugins: [sandflow] });
    await expect(refused).rejects.toThrow('lacks an interceptor of sandflow');

    const worker = await Worker.create({ ...options, workflowBundle, plugins: [sandflow] });
    const running = worker.run();
    await expect(worker.run()).rejects.toThrow();
    const client = new Client({ connection: own, dataConverter: converter() });
    const args: Parameters<typeof fix> = [deployment, 'encrypted-child', script('echo fixed')];
    const workflowId = jobWorkflowId(deployment, 'yours-encrypted');
    const fixed = client.workflow.execute<typeof fix>('fix', { workflowId, taskQueue, args });
    expect(await fixed).toEqual([expect.stringContaining('fixed'), 'checked\n']);
    worker.shutdown();
    await running;
    await own.close();
  });

  it('ends, with the cause, if a worker of another queue cannot start, and holds nothing then', async () => {
    const taskQueue = 'yours-taken';
    const own = await NativeConnection.connect({ address: inject('temporalAddress') });
    // A connection has one worker for each task queue.
    const activities = { other: async () => null };
    const other = await Worker.create({ connection: own, taskQueue: forkTaskQueue(taskQueue), activities });
    const plugins = [new SandflowPlugin({ client: stand.api, results: stand.results })];
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const worker = await Worker.create({ connection: own, taskQueue, workflowBundle, plugins });
    await expect(worker.run()).rejects.toThrow(/worker.*task queue/i);
    await other.runUntil(Promise.resolve());
    await own.close();
  });

  it('stops with yours, also while the workers of the other queues still start', async () => {
    const plugins = [new SandflowPlugin({ client: stand.api, results: stand.results })];
    const own = await NativeConnection.connect({ address: inject('temporalAddress'), plugins });
    // It is there twice: the connection brings it too.
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const worker = await Worker.create({ connection: own, taskQueue: 'yours-brief', workflowBundle, plugins });
    await worker.runUntil(Promise.resolve());
    await own.close();
  });

  it('says what is wrong before it runs', async () => {
    const parts = { client: stand.api, results: stand.results };
    const refusals = [
      [{ client: stand.api }, {}, 'results is missing'],
      [parts, { activities: { getSandbox: async () => null } }, 'sandflow has activities named getSandbox'],
      [{ ...parts, forksPerSecond: 0 }, {}, 'forksPerSecond must be'],
    ] as const;
    for (const [ofPlugin, ofWorker, named] of refusals) {
      const plugins = [new SandflowPlugin(ofPlugin)];
      const created = Worker.create({ connection, taskQueue: 'yours-refused', ...ofWorker, plugins });
      await expect(created).rejects.toMatchObject({ code: 'bad_argument', message: expect.stringContaining(named) });
    }
  });
});

it('the plugin puts the codec into a client and the interceptors that belong to it into a bundle', async () => {
  const dataConverter = createEncryptedDataConverter(ringOf('one'));
  const theirs = { encode: async (all: Payload[]) => all, decode: async (all: Payload[]) => all };
  const plugins = [new SandflowPlugin({ dataConverter })];
  const client = new Client({ connection, dataConverter: { payloadCodecs: [theirs] }, plugins });
  expect(client.options.loadedDataConverter.payloadCodecs).toEqual([theirs, ...(dataConverter.payloadCodecs ?? [])]);
  const bundled = plugins.map((plugin) =>
    plugin.configureBundler({ workflowsPath, workflowInterceptorModules: ['a'] }),
  );
  expect(bundled).toEqual([
    {
      ...encryptedBundle,
      workflowsPath,
      workflowInterceptorModules: ['a', ...encryptedBundle.workflowInterceptorModules],
    },
  ]);
});

it('createSandflowWorker and a plugin of its connection do not add the queues twice', async () => {
  const parts = { client: stand.api, results: stand.results };
  const plugins = [new SandflowPlugin(parts)];
  const own = await NativeConnection.connect({ address: inject('temporalAddress'), plugins });
  const workflowBundle = { codePath: inject('workflowBundlePath') };
  const worker = await createSandflowWorker({ ...parts, connection: own, taskQueue: 'sandflows', workflowBundle });
  const running = worker.run();
  const handle = await stand.start({}, { taskQueue: 'sandflows' });
  expect((await handle.result()).outcome).toBe('completed');
  worker.shutdown();
  await running;
  await own.close();
});

it('createSandflowWorker hands the options of Temporal on: to all queues what belongs to a worker, to the main one what belongs to workflows', async () => {
  const taskQueue = 'handed-on';
  const worker = await createSandflowWorker({
    connection,
    client: stand.api,
    results: stand.results,
    taskQueue,
    identity: 'handed on',
    workerDeploymentOptions,
    tuner: {
      activityTaskSlotSupplier: slots,
      workflowTaskSlotSupplier: slots,
      localActivityTaskSlotSupplier: slots,
      nexusTaskSlotSupplier: slots,
    },
    workflowBundle: { codePath: inject('workflowBundlePath') },
    activities: { label: async () => 'label' },
  });
  const running = worker.run();
  for (const queue of queuesOf(taskQueue)) {
    await expect.poll(() => pollersOf(queue)).toMatchObject([{ identity: 'handed on', deploymentOptions: version }]);
  }
  const handle = await stand.start({}, { taskQueue });
  expect((await handle.result()).outcome).toBe('completed');
  worker.shutdown();
  await running;
});
