import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { jobWorkflowId, ownerWorkflowId } from '../../src/contract/addresses.js';
import { createSandflowWorker } from '../../src/worker/index.js';
import type { review } from '../unit/house/snippets/own-workflow.js';
import { createStand, deployment, type Stand } from './workflow-harness.js';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const lostOnce = { kind: 'drop_response', times: 1 } as const;

let stand: Stand;
beforeAll(async () => {
  const worker = {
    workflowBundle: undefined,
    workflowsPath: pathOf('../unit/house/snippets/own-workflow.ts'),
    activities: { label: async (name: string) => `the label of ${name}` },
  };
  stand = await createStand({ worker });
});
afterAll(() => stand.close());

describe('own worker: createSandflowWorker', () => {
  it('serves workflows and activities of a user, whose keys and names prevent a second sandbox and a second prompt', async () => {
    await stand.fault({ ...lostOnce, endpoint: 'createSandbox' });
    await stand.fault({ ...lostOnce, endpoint: 'sendPrompt' });
    const workflowId = jobWorkflowId(deployment, 'own-review');
    const { taskQueue } = stand;
    const result = await stand.client.workflow.execute<typeof review>('review', { workflowId, taskQueue });
    const [sandbox, ...others] = stand.service.books.sandboxes();
    expect(others).toEqual([]);
    expect(ownerWorkflowId(sandbox?.name ?? '')).toBe(workflowId);
    expect(result).toMatchObject({ sandboxId: sandbox?.id, label: `the label of ${sandbox?.name}` });
    const [prompt, ...more] = stand.service.books.prompts();
    expect(more).toEqual([]);
    expect(result.prompt).toMatchObject({ promptId: prompt?.id });
  });

  it('serves the workflows of sandflow besides', async () => {
    const handle = await stand.start({});
    expect((await handle.result()).outcome).toBe('completed');
  });

  it('refuses activities with the name of one of its own, a module without its workflows, and a bundle without its interceptor', async () => {
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const { api: client, results, taskQueue } = stand;
    const create = (own: object) => createSandflowWorker({ connection, client, results, taskQueue, ...own });
    try {
      await expect(create({ activities: { getSandbox: async () => null } })).rejects.toMatchObject({
        code: 'bad_argument',
        message: 'sandflow has activities named getSandbox: rename yours.',
      });
      await expect(create({ workflowsPath: pathOf('./own/wait-archived.ts') })).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining("add the line `export * from 'sandflow/workflows';`"),
      });
      const workflowsPath = pathOf('../../workflows/index.ts');
      const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
      await expect(create({ workflowBundle })).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining('pass `unencryptedBundle` or `encryptedBundle` to `bundleWorkflowCode`'),
      });
    } finally {
      await connection.close();
    }
  });

  it('a workflow whose id leads nowhere is told so', async () => {
    const { taskQueue } = stand;
    const executed = stand.client.workflow.execute<typeof review>('review', { workflowId: 'my-review', taskQueue });
    await expect(executed).rejects.toMatchObject({ cause: { type: 'bad_workflow_id' } });
  });
});
