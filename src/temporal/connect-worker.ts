/** Connects to Temporal as a worker. Also used by the bridge. Loads the SDK's native part, which clients do not need. */
import { Client } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { TunnelProxy } from '../settings/proxies.js';
import { type OwnClientOptions, splitTarget, type TemporalTarget } from './connect.js';
import { unreachable } from './errors.js';
import { requireOwnCopy } from './own-copy.js';
import { installWorkerLogger } from './runtime-log.js';

const connectTimeoutMs = 10_000;

/** A connection for workers, with its namespace. */
export interface WorkerConnection {
  /** The connection; the caller closes it. */
  readonly connection: NativeConnection;
  readonly namespace: string;
}

type Answered = 'address' | 'tls' | 'metadata' | 'apiKey' | 'proxy';

/** Options of `connectWorker`: those of Temporal's `NativeConnection` that the target does not have. */
export interface ConnectWorkerOptions extends Omit<NativeConnectionOptions, Answered> {
  /** How long to wait for the server, in ms. Default: 10000. */
  readonly timeoutMs?: number;
  /** The proxy that leads to the server: `config.temporal.proxy`. Default: none. */
  readonly proxy?: TunnelProxy | undefined;
}

/**
 * Connects the native client on which workers run. If Temporal's runtime does not run yet, it starts with a log on
 * stderr; call `logTo`, `serveMetrics` or `Runtime.install` first for another one.
 * @throws SandflowError `temporal_unreachable`
 * @example
 * const { connection, namespace } = await connectWorker({ address: 'temporal.example.com:7233' });
 * const worker = await createSandflowWorker({ connection, namespace, client: api, results, taskQueue });
 */
export async function connectWorker(
  target: TemporalTarget,
  options: ConnectWorkerOptions = {},
): Promise<WorkerConnection> {
  const { timeoutMs = connectTimeoutMs, proxy, ...others } = options;
  const { connectionOptions, namespace, address } = splitTarget(target);
  installWorkerLogger();
  const connecting = NativeConnection.connect({ ...others, ...connectionOptions, proxy: proxy && proxyConfig(proxy) });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return { connection: await Promise.race([connecting, late]), namespace };
  } catch (cause) {
    // A connection that opens after the deadline has no owner, so it is closed here.
    connecting.then((connection) => connection.close()).catch(() => undefined);
    throw unreachable(address, cause, proxy);
  } finally {
    clearTimeout(timer);
  }
}

function proxyConfig({ address, login }: TunnelProxy): NativeConnectionOptions['proxy'] {
  return { type: 'http-connect', targetHost: address, ...(login && { basicAuth: login }) };
}

/** @throws SandflowError `bad_argument` for a connection of another copy of `@temporalio/worker` */
export function requireWorkerConnection(connection: NativeConnection): void {
  requireOwnCopy(connection, { name: 'connection', own: NativeConnection, sdkPackage: '@temporalio/worker' });
}

/**
 * Creates a client on a worker's connection. Workflows that it starts can begin eagerly on a worker of this process.
 * @throws SandflowError `bad_argument` for a connection of another copy of `@temporalio/worker`
 * @example
 * const client = clientOfWorker(await connectWorker({ address: 'temporal.example.com:7233' }));
 */
export function clientOfWorker({ connection, namespace }: WorkerConnection, options: OwnClientOptions = {}): Client {
  requireWorkerConnection(connection);
  return new Client({ ...options, connection, namespace });
}
