import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { ApplicationFailure } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { forkTaskQueue, jobWorkflowId, ownerWorkflowId } from '../../../src/addresses/addresses.js';
import { apiCallsHeader } from '../../../src/protocol/counted-result.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { keepSecret } from '../../../src/secrecy/known-secrets.js';
import { createSandflowWorker } from '../../../src/worker/index.js';
import type { review } from '../../unit/house/snippets/own-workflow.js';
import { createStand, deployment, type Stand } from '../../workflows/workflow-harness.js';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const canary = 'canary-of-an-activity';
keepSecret(canary);
const lostOnce = { kind: 'drop_response', times: 1 } as const;

let stand: Stand;
beforeAll(async () => {
  const worker = {
    workflowBundle: undefined,
    workflowsPath: pathOf('../../unit/house/snippets/own-workflow.ts'),
    activities: {
      async label(name: string) {
        if (!name.includes('own-canary')) return `the label of ${name}`;
        // As a library does that quotes a header.
        const cause = new Error(`Bearer ${canary}`);
        throw ApplicationFailure.create({ message: `no ${canary}`, nonRetryable: true, details: [{ canary }], cause });
      },
    },
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

  it('refuses activities with the name of one of its own, a module without its workflows, and a bundle without each of its interceptors', async () => {
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const { api: client, results, taskQueue } = stand;
    const create = (own: object) => createSandflowWorker({ connection, client, results, taskQueue, ...own });
    try {
      await expect(create({ activities: { getSandbox: async () => null } })).rejects.toMatchObject({
        code: 'bad_argument',
        message: 'sandflow has activities named getSandbox: rename yours.',
      });
      await expect(create({ workflowsPath: pathOf('../../workflows/own/wait-archived.ts') })).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining("add the line `export * from 'sandflow/workflows';`"),
      });
      const workflowsPath = pathOf('../../../workflows/index.ts');
      const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
      await expect(create({ workflowBundle })).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining(
          'pass `SandflowPlugin`, `unencryptedBundle` or `encryptedBundle` to `bundleWorkflowCode`',
        ),
      });
      const code = readFileSync(inject('workflowBundlePath'), 'utf8').replaceAll(apiCallsHeader, 'another');
      await expect(create({ workflowBundle: { code } })).rejects.toMatchObject({ code: 'bad_argument' });
    } finally {
      await connection.close();
    }
  });

  it('a workflow whose id leads nowhere is told so', async () => {
    const { taskQueue } = stand;
    const executed = stand.client.workflow.execute<typeof review>('review', { workflowId: 'my-review', taskQueue });
    await expect(executed).rejects.toMatchObject({ cause: { type: 'bad_workflow_id' } });
  });

  it('says the true cause if it cannot start, and releases the connection', async () => {
    const { api: client, results, taskQueue } = stand;
    const directory = await mkdtemp(join(tmpdir(), 'sandflow-worker-'));
    await writeFile(join(directory, 'file'), '');
    const unwritable = createResultStore(join(directory, 'file', 'results'));
    const refusals = [
      [{ forksPerSecond: Number.NaN }, 'bad_argument', 'forksPerSecond'],
      [{ maxFollows: 0.5 }, 'bad_argument', 'maxFollows'],
      [{ maxConcurrentActivityTaskExecutions: -1 }, 'bad_argument', 'maxConcurrentActivityTaskExecutions'],
      [{ maxCachedWorkflows: Number.POSITIVE_INFINITY }, 'bad_argument', 'maxCachedWorkflows'],
      [{ results: unwritable }, 'result_store_unwritable', 'EEXIST'],
    ] as const;
    for (const [own, code, named] of refusals) {
      const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
      const created = createSandflowWorker({ connection, client, results, taskQueue, ...own });
      await expect(created).rejects.toMatchObject({ code, message: expect.stringContaining(named) });
      await connection.close();
    }
    await rm(directory, { recursive: true });
  });

  it('a namespace that does not exist leaves nothing open', async () => {
    const { api: client, results, taskQueue } = stand;
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const threads = () => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;
    const before = threads();
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const given = { connection, client, results, taskQueue, workflowBundle };
    await expect(createSandflowWorker({ ...given, namespace: 'no-such' })).rejects.toMatchObject({
      code: 'bad_argument',
      message: 'namespace: Temporal has no namespace "no-such".',
    });
    await connection.close();
    expect(threads()).toBeLessThanOrEqual(before);
  });

  it('releases the connection if a later one of its workers cannot be created', async () => {
    const { api: client, results } = stand;
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const taskQueue = 'taken-in-part';
    // A connection has one worker for each task queue.
    const activities = { other: async () => null };
    const other = await Worker.create({ connection, taskQueue: forkTaskQueue(taskQueue), activities });
    const workflowsPath = pathOf('../../../workflows/index.ts');
    const created = createSandflowWorker({ connection, client, results, taskQueue, workflowsPath });
    await expect(created).rejects.toThrow(/worker.*task queue/i);
    await other.runUntil(Promise.resolve());
    await connection.close();
  });

  it('a failure of an activity holds no secret, whatever a library wrote into it', async () => {
    const { taskQueue } = stand;
    const workflowId = jobWorkflowId(deployment, 'own-canary');
    const error = await stand.client.workflow
      .execute<typeof review>('review', { workflowId, taskQueue })
      .catch((caught: unknown) => caught);
    const history = await stand.client.workflow.getHandle(workflowId).fetchHistory();
    const failed = (history.events ?? []).flatMap(({ activityTaskFailedEventAttributes: one }) => (one ? [one] : []));
    const stored = inspect(failed, { depth: 20 });
    const details = failed.flatMap(({ failure }) => failure?.applicationFailureInfo?.details?.payloads ?? []);
    const seen = [
      inspect(error, { depth: 20 }),
      stored,
      ...details.map(({ data }) => Buffer.from(data ?? []).toString()),
    ];
    expect(seen).toEqual(seen.map(() => expect.stringContaining('[redacted]')));
    for (const text of seen) expect(text).not.toContain(canary);
  });
});
