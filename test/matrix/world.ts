/** A stand whose worker reaches the service through the proxy, and what belongs to others in that service. */
import { NativeConnection } from '@temporalio/worker';
import { inject, vi } from 'vitest';
import { createSandboxClient } from '../../src/client/index.js';
import { createSandflowWorker, type SandflowWorker } from '../../src/worker/index.js';
import { createStand, type Stand, script } from '../workflows/workflow-harness.js';
import { createFaultProxy, type FaultProxy } from './fault-proxy.js';
import type { ForeignIds } from './garble.js';
import { createTaggedClient } from './tagged-client.js';

const apiKey = 'test-key';

export interface World {
  readonly stand: Stand;
  readonly proxy: FaultProxy;
  /** A sandbox of somebody else, ready, with a prompt and an earlier stop. Nothing may happen to it. */
  readonly bystanderId: string;
  /** What stands for that sandbox in garbled answers. */
  readonly foreign: ForeignIds;
  /** What is forked: see `createSource`. */
  readonly sourceId: string;
  /** Task queues of workers of their own, each with its own shared list: for what all jobs of a worker share. */
  readonly lanes: readonly string[];
  close(): Promise<void>;
}

/** @param lanes how many workers of their own there are beside the stand's */
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
  // Its calls are not what is tested, and may take as long as a busy machine does.
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

/** Archived, with all that it holds saved: what is forked. */
export async function createSource(stand: Stand): Promise<string> {
  const sourceId = await made(stand, 'source');
  await stand.api.writeFile(sourceId, { path: 'seed', content: 'from the source' });
  await stand.api.stopSandbox(sourceId);
  await inState(stand, sourceId, 'archived');
  return sourceId;
}

/** A sandbox that somebody made by hand and that is ready. */
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
