import { randomBytes } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect, inject, it, vi } from 'vitest';
import { createQueueCheck } from '../../activities/unserved-queues.js';
import type { callActivity } from './own/call-activity.js';

it('own worker: a worker with createActivities alone warns that nobody serves the other task queues', async () => {
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const taskQueue = `alone-${randomBytes(4).toString('hex')}`;
  const check = createQueueCheck(taskQueue, { afterMs: 0 });
  const activities = {
    async probe(): Promise<string> {
      const warned = vi.spyOn(Context.current().log, 'warn').mockImplementation(() => undefined);
      check();
      await vi.waitFor(() => expect(warned).toHaveBeenCalled(), 120_000);
      check();
      expect(warned).toHaveBeenCalledTimes(1);
      return String(warned.mock.calls[0]?.[0]);
    },
  };
  const workflowBundle = { codePath: inject('callActivityBundlePath') };
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities });
  const started = { workflowId: `call-probe-${taskQueue}`, taskQueue, args: ['probe', []] as [string, unknown[]] };
  const warning = await worker.runUntil(
    new Client({ connection }).workflow.execute<typeof callActivity>('callActivity', started),
  );
  await connection.close();
  const missing = ['follow', 'fork', 'notify'].map((name) => `${taskQueue}-${name} (activity)`).join(', ');
  expect(warning.value).toContain(`No worker polls ${missing}: jobs wait there for ever. Use createSandflowWorker`);
});
