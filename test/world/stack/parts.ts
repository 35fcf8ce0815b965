/** The processes of a world. Each can be killed, and is then started again with its state. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeSettings } from '../../../bench/processes/bridge.js';
import { type Child, startChild } from '../../../bench/processes/child.js';
import { freePort } from '../../../src/os/free-port.js';
import { type EmbeddedServer, startEmbeddedServer } from '../../../src/temporal-server/embedded.js';
import type { Part } from '../plan/plan.js';
import type { ServiceSettings } from '../processes/service.js';
import type { WorkerSettings } from '../processes/worker.js';

export interface PartsOptions {
  readonly directory: string;
  readonly temporalBinary: string;
  readonly bundlePath: string;
  readonly taskQueue: string;
  readonly apiKey: string;
  readonly workers: number;
}

export interface Parts {
  readonly temporalAddress: string;
  readonly serviceUrl: string;
  /** The port at which the bridge will listen. */
  readonly bridgePort: number;
  readonly secretFile: string;
  readonly resultsDirectory: string;
  /** Starts the workers, which call the service at `serviceUrl`. */
  startWorkers(serviceUrl: string): Promise<void>;
  startBridge(): Promise<void>;
  /** Kills a process of this part with SIGKILL and starts it again. Resolves when it is ready. */
  kill(part: Part): Promise<void>;
  /**
   * Kills a process of this part before it returns.
   * @param pid the worker; default: the one that was killed longest ago
   * @returns how to start the part again; it resolves when it is ready
   */
  crash(part: Part, pid?: number): () => Promise<void>;
  /** Drains the workers with SIGTERM and replaces them, one after another. */
  deploy(): Promise<void>;
  /** The files with the output of all processes. */
  readonly logFiles: readonly string[];
  close(): Promise<void>;
}

/** Short, so that a world lasts seconds. */
const timings = { bootMs: 100, archiveMs: 50, hydrationMs: 50, stopRetryMs: 200, webhookRetryMs: 100, deleteMs: 20 };

/** Starts Temporal and the service. */
export async function startParts(options: PartsOptions): Promise<Parts> {
  const { directory, apiKey } = options;
  mkdirSync(directory, { recursive: true });
  const at = (file: string) => join(directory, file);
  const entry = (path: string) => new URL(path, import.meta.url);
  const secretFile = at('webhook-secrets');
  const resultsDirectory = at('results');
  const servicePort = await freePort();
  const bridgePort = await freePort();
  const children = new Map<string, Child>();
  let workerUrl = '';
  let killed = 0;

  const startTemporal = (port?: number): Promise<EmbeddedServer> =>
    startEmbeddedServer({
      binary: options.temporalBinary,
      logFile: at('temporal.log'),
      databaseFile: at('temporal.db'),
      ...(port !== undefined && { port }),
    });
  let temporal = await startTemporal();
  const { address: temporalAddress } = temporal;
  const start = async (name: string, program: URL, settings: object) => {
    children.set(name, await startChild(program, { settings, logFile: at(`${name}.log`) }));
  };
  const starts: Readonly<Record<string, () => Promise<void>>> = {
    service: () =>
      start('service', entry('../processes/service.js'), {
        directory: at('service'),
        apiKey,
        port: servicePort,
        timings,
      } satisfies ServiceSettings),
    bridge: () =>
      start('bridge', entry('../../../bench/processes/bridge.js'), {
        temporalAddress,
        port: bridgePort,
        secretFile,
      } satisfies BridgeSettings),
  };
  const startWorker = (name: string) =>
    start(name, entry('../processes/worker.js'), {
      temporalAddress,
      serviceUrl: workerUrl,
      apiKey,
      taskQueue: options.taskQueue,
      bundlePath: options.bundlePath,
      resultsDirectory,
    } satisfies WorkerSettings);
  const workerNames = Array.from({ length: options.workers }, (_, n) => `worker-${n + 1}`);

  await starts.service?.();

  function crashTemporal(): () => Promise<void> {
    const dead = temporal;
    process.kill(dead.pid, 'SIGKILL');
    return async () => {
      await dead.exited;
      temporal = await startTemporal(Number(new URL(`http://${temporalAddress}`).port));
      if (temporal.address !== temporalAddress) throw new Error('Temporal could not have its port again');
    };
  }

  function crash(part: Part, pid?: number): () => Promise<void> {
    if (part === 'temporal') return crashTemporal();
    const turn = workerNames[killed % workerNames.length] ?? '';
    const ofPid = [...children].find(([, child]) => child.pid === pid)?.[0];
    const name = part === 'worker' ? (ofPid ?? turn) : part;
    const child = children.get(name);
    // It is dead already, and is being started.
    if (!child) return () => Promise.resolve();
    if (part === 'worker') killed += 1;
    children.delete(name);
    process.kill(child.pid, 'SIGKILL');
    return async () => {
      await child.exited;
      await (starts[name] ?? (() => startWorker(name)))();
    };
  }

  return {
    temporalAddress,
    serviceUrl: `http://127.0.0.1:${servicePort}/v1`,
    bridgePort,
    secretFile,
    resultsDirectory,
    logFiles: ['temporal', 'service', 'bridge', ...workerNames].map((name) => at(`${name}.log`)),
    async startWorkers(serviceUrl) {
      workerUrl = serviceUrl;
      await Promise.all(workerNames.map(startWorker));
    },
    async startBridge() {
      await starts.bridge?.();
    },
    crash,
    kill: (part) => crash(part)(),
    async deploy() {
      for (const name of workerNames) {
        const child = children.get(name);
        // It is dead, and is being started.
        if (!child) continue;
        children.delete(name);
        await child.stop();
        await startWorker(name);
      }
    },
    async close() {
      for (const child of [...children.values()].reverse()) await child.stop();
      await temporal.stop();
    },
  };
}
