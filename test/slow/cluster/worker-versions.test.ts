/**
 * A batch on workers of two versions. Servers before 1.31 do not tell a workflow that there is a new version.
 * Tier: all. Two minutes after the start of the cluster, and some 40 CPU seconds.
 */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { itemWorkflowId } from '../../../src/addresses/addresses.js';
import { chunkWorkflowId } from '../../../src/addresses/fanout-addresses.js';
import { unguessableLoopback } from '../../../src/os/free-port.js';
import { archivedSandbox, batchOf, fanoutInput, items, source, submit } from '../../workflows/fanout/fanout-harness.js';
import { buildOf, openVersioned, promptedSandbox, startWorker } from '../../workflows/upgrade/versioned-stand.js';
import { deployment, letGo, untilGo } from '../../workflows/workflow-harness.js';
import { startCluster } from './cluster.js';
import { createNamespace } from './namespace.js';
import { type ClusterPrograms, findClusterPrograms } from './programs.js';

let programs: ClusterPrograms | string;
beforeAll(async () => {
  programs = await findClusterPrograms();
}, 3_600_000);

it('a batch moves to the current version, and its running items do not', { timeout: 900_000 }, async ({ skip }) => {
  if (typeof programs === 'string') return skip(programs);
  const cluster = await startCluster(programs, { host: await unguessableLoopback() });
  onTestFinished(() => cluster.stop());
  const temporalAddress = cluster.address;
  await createNamespace('default', { TEMPORAL_ADDRESS: temporalAddress });
  const { stand, become } = await openVersioned({ temporalAddress });
  await become('v1');
  const input = fanoutInput(source(await archivedSandbox(stand)));
  const { batchId } = await submit(
    stand,
    input,
    items(2, () => untilGo),
  );
  const first = await promptedSandbox(stand);
  const second = await promptedSandbox(stand, [first]);
  await startWorker(stand, 'v2');
  const slowly = { timeout: 300_000, interval: 1_000 };
  await expect.poll(() => buildOf(stand, batchOf(stand, input).workflowId), slowly).toBe('v2');
  const ofItems = [0, 1].map((index) => itemWorkflowId(deployment, batchId, index));
  expect(await Promise.all(ofItems.map((id) => buildOf(stand, id)))).toEqual(['v1', 'v1']);
  await letGo(stand, first);
  // Until then, nothing has happened in it.
  await expect.poll(() => buildOf(stand, chunkWorkflowId(deployment, batchId, 0)), slowly).toBe('v2');
  await letGo(stand, second);
  expect(await batchOf(stand, input).result()).toMatchObject({ outcome: 'completed' });
  expect(await Promise.all(ofItems.map((id) => buildOf(stand, id)))).toEqual(['v1', 'v1']);
});
