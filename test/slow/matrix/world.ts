/** A stand whose worker reaches the service through the proxy, and foreign resources in that service. */
import { NativeConnection } from '@temporalio/worker';
import { inject, vi } from 'vitest';
import { createSandboxClient } from '../../../src/client/index.js';
import { createSandflowWorker, type SandflowWorker } from '../../../src/worker/index.js';
import { createStand, type Stand, script } from '../../workflows/workflow-harness.js';
import { createFaultProxy, type FaultProxy } from './faults/fault-proxy.js';
import type { ForeignIds } from './faults/garble.js';
import { createTaggedClient } from './tagged-client.js';

const apiKey = 'test-key';

export interface World {
  readonly stand: Stand;
  readonly proxy: FaultProxy;
  /** A ready foreign sandbox with a prompt and an earlier stop. It must not change. */
  readonly bystanderId: string;
  /** The ids that replace those of the run in falsified answers. */
  readonly foreign: ForeignIds;
  /** The source of forks: see `createSource`. */
  readonly sourceId: string;
  /** Task queues of separate workers, each with its own shared list: for calls that all jobs of a worker share. */
  readonly lanes: readonly string[];
  close(): Promise<void>;
}

/** @param lanes the number of separate workers besides the stand's */
export async function createWorld({ lanes: laneCount }: { readonly lanes: number }): Promise<World> {
  let proxy: FaultProxy | undefined;
  let serviceUrl = '';
  let client: ReturnType<typeof createTaggedClient> | undefined;
  const stood = await createStand({
    service: { maxCallRecords: 2_000_000, timings: { deleteMs: 20 } },
    worker: { forksPerSecond: 1_000 },
    async connect(url) {
      serviceUrl = url;
      proxy = await createFaultProxy(url);
      client = createTaggedClient(proxy.url, apiKey);
      return client;
    },
  });
  // Its calls are not tested, and may take as long as a busy machine needs.
  const api = createSandboxClient({ baseUrl: serviceUrl, apiKey, timeoutMs: 60_000 });
  const stand: Stand = { ...stood, api };
  if (!proxy || !client) throw new Error('The stand did not ask for its client');
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const lanes = Array.from({ length: laneCount }, (_, at) => `${stand.taskQueue}-lane-${at}`);
  const workers: SandflowWorker[] = [];
  for (const taskQueue of lanes) {
    workers.push(
      await createSandflowWorker({
        connection,
        client,
        results: stand.results,
        taskQueue,
        follow: { minIntervalMs: 100 },
        shutdownGraceTime: '1 second',
        workflowBundle: { codePath: inject('workflowBundlePath') },
        maxCachedWorkflows: 20,
      }),
    );
  }
  const running = workers.map((worker) => worker.run());
  const bystanderId = await made(stand, 'bystander');
  const { stop } = await api.stopSandbox(bystanderId);
  await inState(stand, bystanderId, 'archived');
  await api.resumeSandbox(bystanderId);
  await inState(stand, bystanderId, 'ready');
  const { promptId, conversationId } = await api.sendPrompt(bystanderId, { prompt: script('true'), new: true });
  await inState(stand, bystanderId, 'idle');
  const snapshot = (await api.listSandboxSnapshots(bystanderId)).snapshots[0];
  const sourceId = await createSource(stand);
  return {
    stand,
    proxy,
    bystanderId,
    foreign: {
      sandbox: bystanderId,
      stop: stop?.id ?? '',
      prompt: promptId ?? '',
      conversation: conversationId,
      snapshot: snapshot?.id ?? '',
      operation: `del_${'ab'.repeat(12)}`,
    },
    sourceId,
    lanes,
    async close() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await connection.close();
      await stand.close();
      await client?.close();
      await api.close();
      await proxy?.close();
    },
  };
}

/** An archived sandbox with all its content saved: the source of forks. */
export async function createSource(stand: Stand): Promise<string> {
  const sourceId = await made(stand, 'source');
  await stand.api.writeFile(sourceId, { path: 'seed', content: 'from the source' });
  await stand.api.stopSandbox(sourceId);
  await inState(stand, sourceId, 'archived');
  return sourceId;
}

/** A manually created sandbox that is ready. */
export async function made(stand: Stand, name: string): Promise<string> {
  const { sandbox } = await stand.api.createSandbox({ name, ttlSeconds: 3_600 });
  await inState(stand, sandbox.id, 'ready');
  return sandbox.id;
}

export async function inState(stand: Stand, sandboxId: string, state: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const seen = (await stand.api.getSandbox(sandboxId)).sandbox.state;
      if (seen !== state) throw new Error(`${sandboxId} is ${seen} and not ${state}`);
    },
    { timeout: 60_000, interval: 50 },
  );
}
