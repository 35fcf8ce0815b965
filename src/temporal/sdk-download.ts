/** The SDK's own download of the Temporal CLI. Where the network does not allow it, it gives up within seconds. */
import type { ChildProcess } from 'node:child_process';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { spawnLeashed } from './leashed-process.js';

const GIVE_UP_AFTER_MS = 8_000;
const LOOK_EVERY_MS = 500;

/**
 * The SDK starts the server that it has downloaded, and its runtime takes over the process's signals. In a process of
 * its own neither matters, and a download that hangs can be ended.
 */
const PROGRAM = `
const [workerModule, downloadDir, version, sdkVersion] = process.argv.slice(1);
const { Runtime } = require(workerModule);
Runtime.install({ shutdownSignals: [] });
const runtime = Runtime.instance();
runtime.createEphemeralServer({
  type: 'dev-server',
  exe: { type: 'cached-download', downloadDir, version, ttl: 0, sdkName: 'sdk-typescript', sdkVersion },
  ip: '127.0.0.1', port: null, ui: false, uiPort: null, namespace: 'default', dbFilename: null,
  log: { format: 'pretty', level: 'error' }, extraArgs: [],
}).then((server) => runtime.shutdownEphemeralServer(server)).then(() => process.exit(0), () => process.exit(1));
`;

export interface SdkDownloadOptions {
  /** Such as `v1.5.1`. */
  readonly version: string;
  /** An empty directory; the binary is put there as `temporal`. */
  readonly directory: string;
  readonly onProgress: (line: string) => void;
  /** Ends the download. */
  readonly signal?: AbortSignal;
  /** How long to wait for more bytes, in ms. Default 8000. */
  readonly giveUpAfterMs?: number;
  /** The CommonJS program of the child. Default: the SDK's download. */
  readonly program?: string;
}

/** @returns true when `directory` holds the binary. Never throws for a download that failed. */
export async function downloadTemporalCli(options: SdkDownloadOptions): Promise<boolean> {
  const { version, directory, onProgress, signal, giveUpAfterMs = GIVE_UP_AFTER_MS, program = PROGRAM } = options;
  const require = createRequire(import.meta.url);
  const { version: sdkVersion } = require('@temporalio/worker/package.json') as { version: string };
  const downloads = join(directory, 'download');
  await mkdir(downloads, { recursive: true });
  onProgress(`downloading the Temporal server ${version}`);
  const child = spawnLeashed(
    process.execPath,
    ['-e', program, require.resolve('@temporalio/worker'), downloads, version, sdkVersion],
    { stdio: 'ignore' },
  );
  const stop = () => void (child.pid === undefined || child.exitCode !== null || process.kill(-child.pid, 'SIGKILL'));
  signal?.addEventListener('abort', stop, { once: true });
  const watch = watchGrowth(downloads, giveUpAfterMs, stop);
  try {
    const succeeded = (await exitCodeOf(child)) === 0;
    const [file] = succeeded ? await readdir(downloads) : [];
    if (file === undefined) {
      onProgress('the Temporal server could not be downloaded');
      return false;
    }
    await rename(join(downloads, file), join(directory, 'temporal'));
    return true;
  } finally {
    clearInterval(watch);
    signal?.removeEventListener('abort', stop);
    await rm(downloads, { recursive: true, force: true });
  }
}

/** Calls `giveUp` when nothing in `directory` has grown for `patienceMs`. */
function watchGrowth(directory: string, patienceMs: number, giveUp: () => void): NodeJS.Timeout {
  let bytes = 0;
  let grewAt = Date.now();
  return setInterval(async () => {
    const now = await bytesIn(directory);
    if (now > bytes) grewAt = Date.now();
    bytes = now;
    if (Date.now() - grewAt > patienceMs) giveUp();
  }, LOOK_EVERY_MS);
}

async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        (file) => file.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(null));
  });
}
