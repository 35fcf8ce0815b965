import { readFile } from 'node:fs/promises';
import {
  connectWorker,
  createSandboxClient,
  createSandflowWorker,
  openEncoding,
  readConfig,
} from '../../../../src/index.js';

/** Runs a worker until `signal`. */
export async function work(signal: AbortSignal): Promise<void> {
  const { connection, namespace } = await connectWorker({ address: 'temporal.example.com:7233' });
  const client = createSandboxClient({ baseUrl: 'https://api.example.com/v1', apiKey: () => readKey() });
  // Both encrypt if SANDFLOW_ENCRYPTION_KEYS_FILE is set.
  const { dataConverter, results } = await openEncoding(readConfig());
  const worker = await createSandflowWorker({
    connection,
    namespace,
    client,
    dataConverter,
    results,
    taskQueue: 'sandflow',
  });
  signal.addEventListener('abort', () => worker.shutdown());
  await worker.run();
  await client.close();
  await connection.close();
}

/** Called for each request, so that you can replace the key of a running worker. */
async function readKey(): Promise<string> {
  return (await readFile('/run/secrets/sandbox-api-key', 'utf8')).trim();
}
