/** Runs a worker of your own beside the local service, and one workflow on it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  clientOfWorker,
  connectWorker,
  createSandboxClient,
  createSandflowWorker,
  jobWorkflowId,
  logTo,
  openEncoding,
  readConfig,
} from 'sandflow';
import type { runInSandbox } from './workflows.js';

/** What `sandflow up --json` prints about the stack of this machine. */
interface Stack {
  readonly temporalAddress: string;
  readonly sandboxApiUrl: string;
  readonly apiKeyFile: string;
}

const up = execFileSync('npx', ['sandflow', 'up', '--json'], { encoding: 'utf8' });
const { stack } = (JSON.parse(up) as { status: { stack: Stack } }).status;
const config = readConfig();
// Both encrypt if the deployment does. A worker without them would write everything unencrypted.
const { dataConverter, results } = await openEncoding(config);

// Without this, the log of the worker would bury the answer.
logTo((line) => void (/ \[(?:WARN|ERROR)\] /.test(line) && process.stderr.write(`${line}\n`)));
const temporal = await connectWorker({ address: stack.temporalAddress });
const client = createSandboxClient({
  baseUrl: stack.sandboxApiUrl,
  apiKey: () => readFileSync(stack.apiKeyFile, 'utf8').trim(),
});
// The worker of the stack has the task queue `sandflow`; this one has its own.
const taskQueue = 'own-worker';
const worker = await createSandflowWorker({
  ...temporal,
  client,
  results,
  dataConverter,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
});
const running = worker.run();
const answer = await clientOfWorker(temporal, { dataConverter })
  .workflow.execute<typeof runInSandbox>('runInSandbox', {
    workflowId: jobWorkflowId(config.deployment, `own-${Date.now()}`),
    taskQueue,
    args: ['echo "Hello from $(hostname)"'],
  })
  .finally(() => worker.shutdown());
await running;
await client.close();
await temporal.connection.close();
process.stdout.write(`${JSON.stringify(answer)}\n`);
