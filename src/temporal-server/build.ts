/** Builds the Temporal CLI from its Go module. The first build takes minutes and reports its progress. */
import type { ChildProcess } from 'node:child_process';
import { SandflowError } from '../contract/workflow-safe/sandflow-error.js';
import { spawnBoundToParent } from '../os/spawn-bound-to-parent.js';

const modulePath = 'github.com/temporalio/cli/cmd/temporal';
const progressIntervalMs = 10_000;
const tailLines = 15;
/** Without symbol tables and build stamps the binary is a sixth smaller. */
const buildFlags = ['-buildvcs=false', '-ldflags=-s -w'];
/** The exit code of `env` if it does not find the program. */
const notFoundExitCode = 127;

export interface GoBuildOptions {
  /** Such as `v1.5.1`. Newer tags use `replace` in their module, which `go install` refuses. */
  readonly version: string;
  /** An empty directory; the binary is put there as `temporal`. */
  readonly directory: string;
  readonly onProgress: (line: string) => void;
  /** The Go program. Default: `go` on the PATH. */
  readonly go?: string;
  /** Ends the build. */
  readonly signal?: AbortSignal;
  /** Maximum time between two lines of progress, in ms. Default: 10000. */
  readonly progressEveryMs?: number;
}

/**
 * Runs `go install`, without a time limit, since a slow network is not an error.
 * @throws SandflowError `go_missing` if Go cannot be run; `go_build_failed` with the end of the build's output
 */
export async function buildTemporalCli(options: GoBuildOptions): Promise<void> {
  const { version, directory, onProgress, go = 'go', signal, progressEveryMs = progressIntervalMs } = options;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const tail: string[] = [];
  let downloads = 0;
  const progress = () => {
    const what = downloads === 0 ? 'compiling' : `${downloads} modules downloaded, compiling`;
    onProgress(`building the Temporal server: ${what} (${elapsed()})`);
  };
  onProgress(`building the Temporal server ${version} with go install; the first time takes some minutes`);
  // `env` sets the variable, so that the rest of the environment need not be read here.
  const child = spawnBoundToParent(
    'env',
    [`GOBIN=${directory}`, go, 'install', ...buildFlags, `${modulePath}@${version}`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const stop = () => void (child.pid === undefined || process.kill(-child.pid, 'SIGKILL'));
  signal?.addEventListener('abort', stop, { once: true });
  const timer = setInterval(progress, progressEveryMs);
  let rest = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('go: downloading ')) downloads += 1;
      else tail.push(line);
    }
    tail.splice(0, tail.length - tailLines);
  });
  try {
    const exitCode = await ended(child);
    if (exitCode === 0) return onProgress(`built the Temporal server in ${elapsed()}`);
    if (exitCode === notFoundExitCode) throw new SandflowError('go_missing', `The program "${go}" was not found.`);
    const output = [...tail, rest].join('\n').trim();
    throw new SandflowError('go_build_failed', `go install ${modulePath}@${version} failed:\n${output}`);
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('close', (code) => resolve(code));
    child.once('error', reject);
  });
}
