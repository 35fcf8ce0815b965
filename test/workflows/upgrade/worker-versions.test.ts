/** Workers of two versions on one task queue. Gate; costs some 12 CPU seconds. */
import { expect, inject, it } from 'vitest';
import { queuesWithoutWorker } from '../../../src/temporal/task-queue-pollers.js';
import { heldBy, switchVersion, workerVersions } from '../../../src/temporal/worker-versions.js';
import { replayOpenWorkflows } from '../../../src/worker/replay-open.js';
import { letGo } from '../workflow-harness.js';
import { addWorker, buildOf, held, openVersioned, promptedSandbox, startWorker } from './versioned-stand.js';

it('a job stays with the version that it started on, and later ones start on the current one', async () => {
  const { stand, become } = await openVersioned();
  await become('v1');
  const one = await stand.start(held);
  const sandboxOfOne = await promptedSandbox(stand);
  await startWorker(stand, 'v2');
  const other = await stand.start(held);
  const sandboxOfOther = await promptedSandbox(stand, [sandboxOfOne]);
  expect(await workerVersions(stand.client, stand.taskQueue)).toEqual(
    expect.arrayContaining([
      { buildId: 'v1', isCurrent: false },
      { buildId: 'v2', isCurrent: true },
    ]),
  );
  const holders = async (buildId: string) => {
    const ids: string[] = [];
    for await (const { workflowId, type } of heldBy(stand.client, stand.taskQueue, buildId))
      if (type === 'createThenPrompt') ids.push(workflowId);
    return ids;
  };
  await expect.poll(() => holders('v1')).toEqual([one.workflowId]);
  await expect.poll(() => holders('v2')).toEqual([other.workflowId]);
  await letGo(stand, sandboxOfOne);
  await letGo(stand, sandboxOfOther);
  expect([(await one.result()).outcome, (await other.result()).outcome]).toEqual(['completed', 'completed']);
  expect(await Promise.all([one, other].map(({ workflowId }) => buildOf(stand, workflowId)))).toEqual(['v1', 'v2']);
});

it('a version without workers is not switched to, and Temporal says why', async () => {
  const { stand, become } = await openVersioned();
  await become('v1');
  const refused = switchVersion(stand.client, stand.taskQueue, 'v9');
  await expect(refused).rejects.toThrow(/No worker of the version v9 polls .*: .+\. Start .*SANDFLOW_BUILD_ID=v9/);
  expect(await workerVersions(stand.client, stand.taskQueue)).toEqual([{ buildId: 'v1', isCurrent: true }]);
});

it('workers of a version that is not current count as none', async () => {
  const { stand } = await openVersioned();
  const { client } = stand;
  const taskQueue = `${stand.taskQueue}.of_its:own`;
  await addWorker({ ...stand, taskQueue }, 'v1');
  await expect.poll(() => workerVersions(client, taskQueue)).toEqual([{ buildId: 'v1', isCurrent: false }]);
  expect(await queuesWithoutWorker(client, taskQueue)).toHaveLength(5);
  await switchVersion(client, taskQueue, 'v1');
  await expect.poll(() => queuesWithoutWorker(client, taskQueue)).toEqual([]);
});

it('what runs is replayed on another build, and what cannot continue there is named', async () => {
  const { stand } = await openVersioned();
  const job = await stand.start(held);
  const sandboxId = await promptedSandbox(stand);
  const { client, taskQueue } = stand;
  const good = { codePath: inject('workflowBundlePath') };
  await expect
    .poll(() => replayOpenWorkflows(client, { taskQueue, workflowBundle: good }))
    .toEqual({ replayed: 1, refused: [] });
  const workflowsPath = new URL('other-build.ts', import.meta.url).pathname;
  const { refused } = await replayOpenWorkflows(client, { taskQueue, workflowsPath });
  const reason = expect.stringMatching(/nondeterminism/i);
  expect(refused).toEqual([{ workflowId: job.workflowId, type: 'createThenPrompt', reason, isPinned: false }]);
  await letGo(stand, sandboxId);
  expect((await job.result()).outcome).toBe('completed');
});
