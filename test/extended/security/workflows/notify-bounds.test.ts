/** An unreachable listener uses a limited number of child workflows, and a slot only for a moment. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { expect, inject, it, vi } from 'vitest';
import { notifyActivity } from '../../../../activities/notification/notify.js';
import { tellUpdate } from '../../../security/workflows/tells-often.js';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

interface Resolved {
  request: string;
}

/** The limits of `workflows/shared/most-under-way.ts` are 1,000 and 500. */
async function bundleWithLowLimits() {
  const lowered = pathOf('low-limits.ts');
  const replaceLimits = (request: Resolved) => {
    if (request.request.endsWith('/most-under-way.js')) request.request = lowered;
  };
  return bundleWorkflowCode({
    workflowsPath: pathOf('tells-often.ts'),
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [
        ...(config.plugins ?? []),
        (compiler) => {
          compiler.hooks.normalModuleFactory.tap('limits', (factory) => {
            factory.hooks.beforeResolve.tap('limits', replaceLimits);
          });
        },
      ],
    }),
  });
}

it('a workflow with a dead listener drops events at its limit, ends at another, and delivered events free capacity', async () => {
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const client = new Client({ connection });
  const taskQueue = `bounds-${randomUUID()}`;
  const worker = await Worker.create({ connection, taskQueue, workflowBundle: await bundleWithLowLimits() });
  const running = worker.run();
  const workflowId = `bounds/${randomUUID()}`;
  const handle = await client.workflow.start('tellsOften', { workflowId, taskQueue });
  const open = async () => (await handle.describe()).raw.pendingChildren ?? [];
  const tell = (event: 'blocked' | 'ended', times: number) =>
    handle.executeUpdate(tellUpdate, { args: [event, times] });
  try {
    await tell('blocked', 5);
    expect(await open()).toHaveLength(2);
    await tell('ended', 5);
    expect(await open()).toHaveLength(4);
    await tell('blocked', 1);
    expect(await open()).toHaveLength(4);
    for (const { workflowId: id } of (await open()).slice(0, 3)) await client.workflow.getHandle(id ?? '').terminate();
    await expect.poll(open).toHaveLength(1);
    // The workflow may learn of the ends later than the server shows them.
    const toldAgain = async () => {
      await tell('blocked', 5);
      return open();
    };
    await expect.poll(toldAgain).toHaveLength(2);
    await tell('blocked', 5);
    expect(await open()).toHaveLength(2);
  } finally {
    for (const { workflowId: id } of await open()) await client.workflow.getHandle(id ?? '').terminate();
    await handle.terminate();
    worker.shutdown();
    await running;
    await connection.close();
  }
});

const notify = (url: string) => {
  const info = { workflowExecution: { workflowId: 'w', runId: 'r' }, activityId: '1' };
  const context = { info, cancellationSignal: new AbortController().signal } as unknown as Context;
  const told = {
    id: 'msg_1',
    event: 'ended',
    jobId: null,
    workflowId: 'w',
    workflowType: 'createThenPrompt',
    sandboxId: null,
    outcome: null,
    message: null,
    at: '',
  };
  return asyncLocalStorage.run(context, () => notifyActivity({})({ url }, { ...told, event: 'ended' }));
};

it.each(['drop by drop', 'without an end'])(
  'a listener that answers 200 and then %s holds its slot only for a moment',
  async (how) => {
    const piece = how === 'drop by drop' ? 'x' : 'x'.repeat(100_000);
    const server = createServer((request, response) => {
      request.resume();
      const timer = setInterval(() => response.write(piece), 20);
      response.writeHead(200).once('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // The time limit of the whole call never comes, so a call that holds its slot until then does not end.
    const { timeout } = AbortSignal;
    const limits = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => (ms > 5_000 ? new AbortController().signal : timeout.call(AbortSignal, ms)));
    try {
      await notify(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(limits).toHaveBeenCalledWith(20_000);
    } finally {
      limits.mockRestore();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  },
);

it.each(['nonsense', 'file:///etc/passwd', 'http://[::1/', 'http://127.0.0.1:99999/canary', ''])(
  'an invalid URL is abandoned at once and not shown: %s',
  async (url) => {
    await expect(notify(url)).rejects.toMatchObject({
      type: 'notify_failed',
      nonRetryable: true,
      message: expect.not.stringContaining('canary'),
    });
  },
);
