import { aborted } from '../../os/aborted.js';
import { apiKeyOf } from '../../os/key-file.js';
import { createSecretStore } from '../../secret-store/index.js';
import { clientOfWorker, connectWorker } from '../../temporal/connect-worker.js';
import { requireApis } from '../../temporal/require-apis.js';
import { requireNamespace } from '../../temporal/require-namespace.js';
import {
  countCallsByCode,
  createSandflowWorker,
  logTo,
  openEncoding,
  type SandflowWorker,
  serveMetrics,
  workerVersion,
} from '../../worker/index.js';
import { markNamespace } from '../../workflow-client/cleanups/forgotten-results.js';
import { clientOf } from '../connect/check-service.js';
import { agreeAtStart } from '../connect/key-agreement.js';
import type { CliIo } from '../io.js';
import { openNotifying } from '../notify/files.js';
import { programName } from '../program-name.js';
import { badConfiguration } from '../usage-error.js';
import type { WorkerOptions } from './options.js';
import { serveHealth } from './serve-health.js';
import { type Address, sayReady } from './serving.js';

export interface ServeWorkerOptions extends Omit<WorkerOptions, 'health'> {
  /** Where to answer probes. Undefined: nowhere. */
  readonly health: Address | undefined;
}

/** Serves until the first Ctrl-C or SIGTERM, then takes no new work and lets activities finish. */
export async function serveWorker({ health, ...options }: ServeWorkerOptions, io: CliIo): Promise<void> {
  if (health === undefined) return runWorker(options, io, () => {});
  let problem = async (): Promise<string | undefined> => 'the worker starts';
  // From the beginning to the end, so that nobody kills a worker that waits for Temporal, or that drains.
  const close = await serveHealth(health, () => problem());
  try {
    await runWorker(options, io, (worker) => {
      problem = worker.problem;
    });
  } finally {
    await close();
  }
}

/** @param onCreated gets the worker before it runs */
async function runWorker(
  options: Omit<WorkerOptions, 'health'>,
  io: CliIo,
  onCreated: (worker: SandflowWorker) => void,
): Promise<void> {
  const config = await io.readConfig({ checksHome: false });
  io.umask?.(0o077);
  const { taskQueue, forksPerSecond, sandboxService, deployment, buildId } = config;
  if (!sandboxService) {
    throw badConfiguration(
      `A worker needs a service. Set SANDBOX_API_URL and SANDBOX_API_KEY, or use \`${programName} up\` to run everything locally.`,
    );
  }
  // The client reads it at each call. A worker that could not would fail each task and try again for ever.
  await apiKeyOf(sandboxService);
  const notifying = await openNotifying(config);
  const log = (line: string) => void io.stderr.write(`${line}\n`);
  if (options.metrics === undefined) logTo(log);
  else serveMetrics(options.metrics, { log });
  const { ring, dataConverter, results } = await openEncoding(config);
  const secrets = createSecretStore(config.secrets, { ring });
  await Promise.all([results.checkWritable?.(), secrets.checkWritable?.()]);
  const { connection, namespace } = await connectWorker(config.temporal.connect, { proxy: config.temporal.proxy });
  const onCall = options.metrics === undefined ? undefined : countCallsByCode();
  const client = clientOf(sandboxService, { connections: 128, onCall });
  let stopAsking = () => {};
  try {
    const temporal = clientOfWorker({ connection, namespace });
    await requireNamespace(temporal, config.temporal.connect.connectionOptions.address ?? '');
    await requireApis(temporal);
    const signal = io.interrupted;
    const keys = await agreeAtStart(temporal, { deployment, ring, announce: true, notice: log, signal });
    stopAsking = keys.stop;
    await markNamespace(temporal, results, deployment).catch((error) => log(`No mark: ${error.message}`));
    const worker = await createSandflowWorker({
      connection,
      namespace,
      client,
      taskQueue,
      forksPerSecond,
      workflowStacks: options.workflowStacks,
      results,
      dataConverter,
      secrets,
      workerDeploymentOptions: buildId === undefined ? undefined : workerVersion(taskQueue, buildId),
      ...notifying,
    });
    onCreated(worker);
    const running = worker.run();
    const version =
      buildId === undefined
        ? ''
        : ` Its version is ${buildId}: \`${programName} upgrade switch\` lets jobs start with it.`;
    const text = `The worker polls the task queue ${taskQueue} in the namespace ${namespace}.${version}`;
    sayReady(io, { text }, options);
    try {
      await Promise.race([running, aborted(io.interrupted), keys.refused]);
    } finally {
      worker.shutdown();
      await running;
    }
  } finally {
    stopAsking();
    await client.close();
    await connection.close();
  }
}
