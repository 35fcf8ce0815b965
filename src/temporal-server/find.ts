/** Finds a Temporal server to run, and downloads or builds one if there is none. */

import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SandflowError } from '../contract/workflow-safe/sandflow-error.js';
import { acquireFileLock } from '../os/file-lock.js';
import { makeFolders } from '../os/make-folders.js';
import { checkTrustedFolder } from '../os/trusted-folder.js';
import { buildTemporalCli } from './build.js';
import { downloadTemporalCli } from './download.js';

/**
 * The newest version that `go install` can build: later versions replace a module with a path, which `go install`
 * refuses.
 */
const cliVersion = '1.5.1';

interface FindServerOptions {
  readonly cacheDirectory: string;
  readonly onProgress?: (line: string) => void;
  /** Ends a download or build that is in progress. */
  readonly signal?: AbortSignal;
  /** The program to try first. Default: `temporal` on the PATH; undefined skips this step. */
  readonly installed?: string | undefined;
  /** For tests: how a missing server is obtained. Default: the publisher's release, then `go install`. */
  readonly download?: typeof downloadTemporalCli;
  readonly build?: typeof buildTemporalCli;
}

/**
 * Finds a `temporal` binary that runs, and returns its path. Tries the binary on the PATH, the cached one, the
 * publisher's release, and then one built with Go. Safe to call from several processes at once: one process gets the
 * binary, and the others wait for it.
 * @throws SandflowError `temporal_server_missing`, which says what to install; `home_not_trusted` for a cache that
 *   others may write
 */
export async function findTemporalServer(options: FindServerOptions): Promise<string> {
  const { cacheDirectory, onProgress = () => undefined } = options;
  const installed = 'installed' in options ? options.installed : 'temporal';
  if (installed !== undefined) {
    const found = await inspectCliBinary(installed);
    if (found?.recentEnough) return found.path;
    if (found) onProgress(`the installed Temporal CLI contains server ${found.serverVersion}, which is too old`);
  }
  const home = join(cacheDirectory, 'temporal', cliVersion);
  // The folder is checked before anything in it is run, and before the first run creates it.
  await checkTrustedFolder({ path: home, setting: 'SANDFLOW_CACHE', rootMayOwn: true });
  const cached = join(home, 'temporal');
  if (await inspectCliBinary(cached)) return cached;
  const lock = await acquireFileLock(join(home, 'build.lock'), {
    onWait: () => onProgress('another process is downloading or building the Temporal server; waiting for it'),
    signal: options.signal,
  });
  try {
    if (await inspectCliBinary(cached)) return cached;
    await makeBinary(home, cached, options);
    return cached;
  } finally {
    lock.release();
  }
}

async function makeBinary(home: string, cached: string, options: FindServerOptions): Promise<void> {
  const { onProgress = () => undefined, signal } = options;
  const { download = downloadTemporalCli, build = buildTemporalCli } = options;
  await makeFolders(home, { mode: 0o700 });
  const directory = await mkdtemp(join(home, 'making-'));
  const made = join(directory, 'temporal');
  const making = { version: `v${cliVersion}`, directory, onProgress, signal };
  try {
    const downloaded = (await download(making)) && (await inspectCliBinary(made)) !== undefined;
    signal?.throwIfAborted();
    if (!downloaded) {
      await rm(made, { force: true });
      await build(making);
      if (!(await inspectCliBinary(made))) throw new Error('the binary that was built does not run');
    }
    await rename(made, cached);
  } catch (cause) {
    signal?.throwIfAborted();
    throw missing(cause);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function missing(cause: unknown): SandflowError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice =
    'No Temporal server was found. Install the Temporal CLI so that `temporal` is on the PATH, or install Go 1.25 or newer ' +
    'to build a server, or set TEMPORAL_ADDRESS to a running server.';
  return new SandflowError('temporal_server_missing', `${advice}\n${reason}`, { cause });
}

/**
 * The oldest version whose dev server has the features that jobs need: Update-with-start, signals with request ids,
 * eager start.
 */
const minServerVersion = [1, 28] as const;
const timeoutMs = 10_000;

interface CliBinary {
  readonly path: string;
  /**
   * Version of the server, such as `1.29.1`. A command line that was built from a module has no version of its own.
   */
  readonly serverVersion: string;
  readonly recentEnough: boolean;
}

/** Runs `<path> --version`; undefined if this fails or prints no Temporal version. */
function inspectCliBinary(path: string): Promise<CliBinary | undefined> {
  return new Promise((resolve) => {
    execFile(path, ['--version'], { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, stdout) => {
      const match = /temporal version .*\(Server (\d+)\.(\d+)(\.\d+)?/.exec(stdout);
      if (error || !match) return resolve(undefined);
      const [, major = '', minor = '', patch = ''] = match;
      const [minMajor, minMinor] = minServerVersion;
      const recentEnough = Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor);
      resolve({ path, serverVersion: `${major}.${minor}${patch}`, recentEnough });
    });
  });
}
