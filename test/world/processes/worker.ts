/** Runs a worker of a world. Its calls are tagged, so that the wire can tell the jobs apart. */
import { serve } from '../../../bench/processes/entry.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { connectWorker } from '../../../src/temporal/connect-worker.js';
import { createSandflowWorker } from '../../../src/worker/index.js';
import { createTaggedClient } from '../../slow/matrix/tagged-client.js';

export interface WorkerSettings {
  readonly temporalAddress: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
  readonly resultsDirectory: string;
}

/** As in production, in ms: the service may accept a prompt slowly, and its answer must not be lost. */
const onceTimeoutMs = 30_000;

await serve<WorkerSettings>(async (settings) => {
  const { temporalAddress, serviceUrl, apiKey, taskQueue, bundlePath, resultsDirectory } = settings;
  const { connection } = await connectWorker({ address: temporalAddress });
  const client = createTaggedClient(serviceUrl, apiKey, { onceTimeoutMs });
  const worker = await createSandflowWorker({
    connection,
    client,
    taskQueue,
    forksPerSecond: 1_000,
    follow: { minIntervalMs: 100 },
    results: createResultStore(resultsDirectory),
    workflowBundle: { codePath: bundlePath },
    shutdownGraceTime: '1 second',
  });
  const running = worker.run();
  return {
    async close() {
      worker.shutdown();
      await running;
      await client.close();
      await connection.close();
    },
  };
});
