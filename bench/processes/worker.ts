/** Runs the product's worker as a process. */
import type { ActivityDependencies } from '../../activities/index.js';
import { createSandboxClient } from '../../src/client/index.js';
import { connectWorker } from '../../src/temporal/connect-worker.js';
import { createSandflowWorker, openEncoding } from '../../src/worker/index.js';
import { serve } from './entry.js';

export interface WorkerSettings {
  readonly temporalAddress: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
  readonly resultsDirectory: string;
  readonly maxCachedWorkflows?: number;
  readonly forksPerSecond?: number;
  /** Default: those of the product. */
  readonly follow?: ActivityDependencies['follow'];
  /** A file of encryption keys. Default: nothing is encrypted. */
  readonly keysFile?: string;
}

await serve<WorkerSettings>(async (settings) => {
  const {
    temporalAddress,
    serviceUrl,
    apiKey,
    taskQueue,
    bundlePath,
    resultsDirectory,
    maxCachedWorkflows,
    forksPerSecond,
    follow,
    keysFile,
  } = settings;
  const { connection } = await connectWorker({ address: temporalAddress });
  const client = createSandboxClient({ baseUrl: serviceUrl, apiKey });
  const { dataConverter, results } = await openEncoding({
    results: resultsDirectory,
    ...(keysFile !== undefined && { encryption: { keysFile, requireEncrypted: true } }),
  });
  const worker = await createSandflowWorker({
    connection,
    client,
    taskQueue,
    maxCachedWorkflows,
    forksPerSecond,
    follow,
    results,
    dataConverter,
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
