/** The embedded Temporal server as a part of the stack. */
import { join } from 'node:path';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { type EmbeddedServer, startEmbeddedServer } from '../temporal-server/embedded.js';
import { findTemporalServer } from '../temporal-server/find.js';
import { endOnceInterrupted } from '../temporal-server/interrupted-database.js';
import { type KeptService, keepRunning } from './keep-running.js';
import { stackPaths } from './stack-paths.js';

export interface KeptTemporal extends KeptService {
  readonly address: string;
  readonly namespace: string;
}

export interface KeepTemporalOptions {
  readonly port: number;
  readonly uiPort: number;
  /** The loopback address that the UI is served on. */
  readonly uiHost: string;
  readonly onProgress: (line: string) => void;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
  /** Default: a binary that is installed, cached, downloaded or built. */
  readonly temporalBinary?: string;
}

/**
 * Finds, downloads or builds a server, starts it with its state in a file, and keeps it running at the same address.
 * @throws SandflowError `temporal_server_missing`, `disk_full`, `temporal_start_failed`
 */
export async function keepTemporal(config: Config, options: KeepTemporalOptions): Promise<KeptTemporal> {
  const { onProgress, log, signal, port, uiPort, uiHost } = options;
  const { cacheDirectory, home } = config;
  const binary = options.temporalBinary ?? (await findTemporalServer({ cacheDirectory, onProgress, signal }));
  const paths = stackPaths(home);
  const namespace = config.temporal.connect.namespace ?? 'default';
  let address: string | undefined;

  const start = async (startSignal: AbortSignal) => {
    const server: EmbeddedServer = await startEmbeddedServer({
      binary,
      databaseFile: paths.temporalDatabase,
      port,
      uiPort,
      uiHost,
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
