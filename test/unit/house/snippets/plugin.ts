import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createSandboxClient, openEncoding, readConfig, SandflowPlugin } from '../../../../src/index.js';

/** Creates your worker, with sandflow in it. */
export async function createWorker(yours: WorkerOptions, baseUrl: string, apiKey: string): Promise<Worker> {
  const { dataConverter, results } = await openEncoding(readConfig());
  const client = createSandboxClient({ baseUrl, apiKey });
  const sandflow = new SandflowPlugin({ client, results, dataConverter });
  return Worker.create({ ...yours, plugins: [...(yours.plugins ?? []), sandflow] });
}
