/** The embedded Temporal server as a part of the stack. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { type EmbeddedServer, startEmbeddedServer } from '../temporal-server/embedded.js';
import { findTemporalServer } from '../temporal-server/find.js';
import { keepRunning } from './keep-running.js';
import type { StackPorts } from './ports.js';
import { stackPaths } from './stack-paths.js';

export interface KeepTemporalOptions {
  readonly ports: StackPorts;
  readonly onProgress: (line: string) => void;
  readonly log: (line: string) => void;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

/**
 * Finds, downloads or builds a server, starts it with its state in a file, and keeps it running at the same address.
 * @throws SandflowError `temporal_server_missing`, `disk_full`, `temporal_start_failed`
 */
export async function keepTemporal(config: Config, options: KeepTemporalOptions) {
  const { onProgress, log, signal, ports } = options;
  const { cacheDirectory, home } = config;
  const binary = await findTemporalServer({ cacheDirectory, onProgress, signal });
  const paths = stackPaths(home);
  const namespace = config.temporal.connect.namespace ?? 'default';
  let address: string | undefined;

  const start = async (startSignal: AbortSignal) => {
    const server: EmbeddedServer = await startEmbeddedServer({
      binary,
      databaseFile: paths.temporalDatabase,
      port: ports.temporal,
      uiPort: ports.temporalUi,
      uiHost: ports.temporalUiHost,
      namespace,
      logFile: join(paths.logDirectory, 'temporal.log'),
      signal: startSignal,
    });
    address ??= server.address;
    if (server.address !== address) {
      await server.stop();
      throw new SandflowError('temporal_start_failed', `the address ${address} is in use by another program`);
    }
    void endOnceInterrupted(server, { log });
    return { pid: server.pid, url: server.uiUrl, exited: server.exited, stop: server.stop };
  };

  onProgress('starting the Temporal server');
  const kept = await keepRunning({ name: 'temporal', start, log, signal });
  return { ...kept, address: address ?? '', namespace };
}

/** At a pause of 10 s, these many reads in a row take at least 30 s. */
const readsInARow = 4;
/** Long, because a read that is cut off can itself interrupt the database. */
const readTimeoutMs = 60_000;

interface InterruptedDatabaseOptions {
  readonly log: (line: string) => void;
  /** Time between two reads, in ms. Default: 10 s. */
  readonly pauseMs?: number;
}

/**
 * If calls are cut off on a starved machine, SQLite in the server can answer every later statement with
 * `interrupted (9)`. No job then continues until the server is started again, which loses nothing.
 *
 * Reads the database of a server again and again, and stops the server after four reads in a row that failed with
 * `interrupted (9)`. An answer counts anew, and so does every other failure: the server may be slow, or it is ending.
 * Resolves when the server has ended.
 */
export async function endOnceInterrupted(
  server: Pick<EmbeddedServer, 'address' | 'namespace' | 'exited' | 'stop'>,
  { log, pauseMs = 10_000 }: InterruptedDatabaseOptions,
): Promise<void> {
  const { address, namespace, exited, stop } = server;
  const ended = new AbortController();
  void exited.then(() => ended.abort());
  // Without interceptors the SDK repeats no call, so that the server's own error arrives, and not a timeout.
  const connection = Connection.lazy({ address, interceptors: [] });
  // The server answers this call from its database, however many workflows there are.
  const read = () => connection.workflowService.describeNamespace({ namespace });
  try {
    for (let interrupted = 0; interrupted < readsInARow; ) {
      await sleep(pauseMs, undefined, { signal: ended.signal }).catch(() => undefined);
      if (ended.signal.aborted) return;
      try {
        await connection.withDeadline(Date.now() + readTimeoutMs, read);
        interrupted = 0;
      } catch (error) {
        interrupted = isInterrupted(error) ? interrupted + 1 : 0;
      }
    }
  } finally {
    await connection.close();
  }
  if (ended.signal.aborted) return;
  log('temporal answers every read of its database with interrupted (9); ending it');
  await stop();
}

function isInterrupted(error: unknown): boolean {
  return error instanceof Error && error.message.includes('interrupted (9)');
}
