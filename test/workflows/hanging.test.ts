/** A workflow that does not return. Gate; costs some 8 CPU seconds. */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { DefaultLogger, type LogEntry, NativeConnection, Runtime } from '@temporalio/worker';
import { expect, inject, it, onTestFinished } from 'vitest';
import { WatchedWorker } from '../../src/worker/workflow-threads.js';
import { goOn, type spin, type waits } from './own/hanging.js';

const logged: LogEntry[] = [];
Runtime.install({ logger: new DefaultLogger('ERROR', (entry) => void logged.push(entry)) });

async function startWorker() {
  const taskQueue = `hanging-${randomBytes(4).toString('hex')}`;
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const workflowsPath = new URL('own/hanging.ts', import.meta.url).pathname;
  // The SDK takes this option without naming it.
  const isBrief = { isolateExecutionTimeout: '1s' };
  const worker = await WatchedWorker.create({ connection, taskQueue, workflowsPath, ...isBrief });
  const running = worker.run();
  const end = async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
  onTestFinished(async () => {
    await end();
    await connection.close();
  });
  const { workflow } = new Client({ connection });
  const start = async <T extends typeof waits | typeof spin>(type: string) => {
    const handle = await workflow.start<T>(type, { taskQueue, workflowId: `${taskQueue}-${type}` } as never);
    onTestFinished(async () => void (await handle.terminate().catch(() => undefined)));
    const events = async () => (await handle.fetchHistory()).events ?? [];
    return { ...handle, events };
  };
  return { start, end };
}

it('a workflow that never returns fails its own task, and those beside it go on', async () => {
  const { start } = await startWorker();
  const before = await start<typeof waits>('waits');
  const hasBegun = async () => (await before.events()).some((event) => event.workflowTaskCompletedEventAttributes);
  await expect.poll(hasBegun).toBe(true);

  const hanging = await start<typeof spin>('spin');
  const failures = async () =>
    (await hanging.events()).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
      failed ? [failed.failure?.message] : [],
    );
  await expect.poll(failures, { timeout: 20_000 }).not.toEqual([]);
  expect(await failures()).toEqual(['This workflow, or one beside it, did not return within 1000 ms']);

  await before.signal(goOn);
  expect(await before.result()).toBe('went on');
  // The SDK's own limit fails it from then on, and nothing else.
  const attempt = async () => (await hanging.describe()).raw.pendingWorkflowTask?.attempt ?? 0;
  await expect.poll(attempt, { timeout: 60_000 }).toBeGreaterThan(2);
  const isLogged = ({ message }: LogEntry) => message.includes('does not return');
  expect(logged.filter(isLogged)).toHaveLength(1);
});

it('a worker that drains while a workflow does not return ends', async () => {
  const { start, end } = await startWorker();
  const hanging = await start<typeof spin>('spin');
  const hasBegun = async () => (await hanging.events()).some((event) => event.workflowTaskStartedEventAttributes);
  await expect.poll(hasBegun).toBe(true);
  await end();
});
