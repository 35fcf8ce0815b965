/** The worker of the peers that use plain Temporal, with the settings of sandflow's worker. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { serve } from '../../processes/entry.js';
import { createPlainActivities } from '../plain/activities.js';
import { createPlainApi } from '../plain/api.js';

export interface PlainWorkerSettings {
  readonly temporalAddress: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
}

await serve<PlainWorkerSettings>(async ({ temporalAddress, serviceUrl, apiKey, taskQueue, bundlePath }) => {
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const api = createPlainApi({ serviceUrl, apiKey });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: bundlePath },
    activities: createPlainActivities(api),
    // A follow mostly waits, and must not keep other activities from running.
    maxConcurrentActivityTaskExecutions: 5_000,
    maxCachedWorkflows: 800,
    stickyQueueScheduleToStartTimeout: '2 seconds',
    shutdownGraceTime: '1 second',
  });
  const running = worker.run();
  return {
    async close() {
      worker.shutdown();
      await running;
      await api.close();
      await connection.close();
    },
  };
});
