/** A worker for the bare workflow, tuned like the product's worker, with one trivial activity. */
import { activityInfo } from '@temporalio/activity';
import { Worker } from '@temporalio/worker';
import { connectWorker } from '../../src/temporal/connect-worker.js';
import type { StepInput } from '../bare/workflow.js';
import { serve, tell } from './entry.js';

export interface BareWorkerSettings {
  readonly temporalAddress: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
}

/** @returns how long ago the signal before this step was sent, in ms; null if no signal came before it */
async function step({ sentAtMs, thenSignalAfterMs }: StepInput): Promise<number | null> {
  const nowMs = Date.now();
  const workflowId = activityInfo().workflowExecution?.workflowId;
  if (thenSignalAfterMs !== null && workflowId !== undefined) {
    tell({ kind: 'armed', workflowId, pauseMs: thenSignalAfterMs });
  }
  return sentAtMs === null ? null : nowMs - sentAtMs;
}

await serve<BareWorkerSettings>(async ({ temporalAddress, taskQueue, bundlePath }) => {
  const { connection } = await connectWorker({ address: temporalAddress });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: bundlePath },
    activities: { step },
    maxCachedWorkflows: 800,
    stickyQueueScheduleToStartTimeout: '2 seconds',
  });
  const running = worker.run();
  return {
    async close() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
});
