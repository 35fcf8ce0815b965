/** Runs each part of the product as a separate process, so that the CPU time of each can be measured. */
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { LocalServiceOptions } from '../local-service/src/index.js';
import { ensureWebhook, webhookPath } from '../src/bridge/index.js';
import { createSandboxClient, type SandboxClient } from '../src/client/index.js';
import { freePort } from '../src/os/free-port.js';
import { connectTemporal } from '../src/temporal/connect.js';
import { startEmbeddedServer } from '../src/temporal-server/embedded.js';
import { pokeSignal } from './bare/workflow.js';
import { type BookReader, createBookReader } from './measure/book-reader.js';
import { cpuSeconds, residentMb } from './measure/process-usage.js';
import type { Delays } from './peers/service/sandboxes.js';
import { type Child, startChild } from './processes/child.js';
import type { ProcessMessage } from './processes/entry.js';

/** What all measurements of a run share. */
export interface Workshop {
  readonly directory: string;
  readonly temporalBinary: string;
  readonly jobBundlePath: string;
  readonly bareBundlePath: string;
  /** Aborted when the bench is to end early. */
  readonly signal: AbortSignal;
}

export interface StandOptions {
  readonly name: string;
  readonly timings?: LocalServiceOptions['timings'];
  /** Default: the local service. With delays, a service that only answers, for more sandboxes than this machine holds. */
  readonly answering?: Delays;
  /** True if Temporal keeps its state in a file. Default: in memory. */
  readonly inFile?: boolean;
  readonly maxCachedWorkflows?: number;
  /** Default: the rate of the product. */
  readonly forksPerSecond?: number;
  /** Default: that of the product. */
  readonly youngFollowMs?: number;
}

export type Part = 'engine' | 'worker' | 'bridge' | 'service' | 'bareWorker';

export interface Stand {
  readonly client: Client;
  readonly api: SandboxClient;
  readonly books: BookReader;
  readonly bridge: Child;
  readonly taskQueue: string;
  readonly bareTaskQueue: string;
  /** CPU seconds of each process since its start. */
  cpu(): Record<Part, number>;
  residentMb(part: 'engine' | 'worker'): number;
  close(): Promise<void>;
}

const apiKey = 'bench-key';
const taskQueue = 'bench';
const bareTaskQueue = 'bench-bare';

export async function createStand(workshop: Workshop, options: StandOptions): Promise<Stand> {
  const directory = join(workshop.directory, options.name);
  await mkdir(directory, { recursive: true });
  const at = (file: string) => join(directory, file);
  const open: (() => Promise<unknown>)[] = [];
  let closed: Promise<void> | undefined;
  const closeAll = async () => {
    for (const end of open.reverse()) await end();
  };
  const close = () => {
    closed ??= closeAll();
    return closed;
  };
  // Measurements under way then fail, because the processes that they talk to are gone.
  workshop.signal.addEventListener('abort', () => void close(), { once: true });
  try {
    const temporal = await startEmbeddedServer({
      binary: workshop.temporalBinary,
      logFile: at('temporal.log'),
      ...(options.inFile && { databaseFile: at('temporal.db') }),
    });
    open.push(() => temporal.stop());
    const { address: temporalAddress } = temporal;
    const child = async (name: string, settings: object, onMessage?: Listener) => {
      const entry = new URL(`./processes/${name}.js`, import.meta.url);
      const started = await startChild(entry, { settings, logFile: at(`${basename(name)}.log`), onMessage });
      open.push(() => started.stop());
      return started;
    };
    const client = await connectTemporal({ address: temporalAddress });
    open.push(() => client.connection.close());
    const service = options.answering
      ? await child('../peers/service', options.answering)
      : await child('service', { directory: at('service'), apiKey, timings: options.timings });
    const api = createSandboxClient({ baseUrl: service.url, apiKey, connections: 256 });
    open.push(() => api.close());
    const port = await freePort();
    const secretFile = at('secrets');
    await ensureWebhook(api, { url: `http://127.0.0.1:${port}${webhookPath}`, name: 'bench', secretFile });
    const bridge = await child('bridge', { temporalAddress, port, secretFile });
    const worker = await child('worker', {
      temporalAddress,
      serviceUrl: service.url,
      apiKey,
      taskQueue,
      bundlePath: workshop.jobBundlePath,
      resultsDirectory: at('results'),
      maxCachedWorkflows: options.maxCachedWorkflows,
      forksPerSecond: options.forksPerSecond,
      follow: { youngFollowMs: options.youngFollowMs },
    });
    const bareSettings = { temporalAddress, taskQueue: bareTaskQueue, bundlePath: workshop.bareBundlePath };
    const bareWorker = await child('bare-worker', bareSettings, pokeWhenArmed(client));
    return {
      client,
      api,
      books: createBookReader(service.url, apiKey),
      bridge,
      taskQueue,
      bareTaskQueue,
      cpu: () => ({
        engine: cpuSeconds(temporal.pid),
        worker: worker.cpuSeconds(),
        bridge: bridge.cpuSeconds(),
        service: service.cpuSeconds(),
        bareWorker: bareWorker.cpuSeconds(),
      }),
      residentMb: (part) => (part === 'engine' ? residentMb(temporal.pid) : worker.residentMb()),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Listener = (message: ProcessMessage) => void;

/** Signals a bare workflow as the bridge would: from a process other than its worker. */
function pokeWhenArmed(client: Client): Listener {
  return (message) => {
    if (message.kind !== 'armed') return;
    const handle = client.workflow.getHandle(message.workflowId);
    // If the workflow has ended meanwhile, its measurement is over, so a failure does not matter.
    setTimeout(() => handle.signal(pokeSignal, Date.now()).catch(() => undefined), message.pauseMs);
  };
}
