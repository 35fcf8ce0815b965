/** Builds the Temporal CLI from its Go module. The first build takes minutes and reports its progress. */
import { SandflowError } from '../errors/sandflow-error.js';
import { cliVersion } from './pinned-release.js';
import { type Making, runProgram } from './run-program.js';
import { withoutLogins } from './why-failed.js';

const goPackage = `github.com/temporalio/cli/cmd/temporal@v${cliVersion}`;
const progressIntervalMs = 10_000;
const tailLines = 15;
/** Without symbol tables and build stamps the binary is a sixth smaller. */
const buildFlags = ['-buildvcs=false', '-ldflags=-s -w'];

export interface GoBuildOptions extends Making {
  /** The Go program. Default: `go` on the PATH. */
  readonly go?: string;
  /** Maximum time between two lines of progress, in ms. Default: 10000. */
  readonly progressEveryMs?: number;
}

/**
 * Runs `go install`, without a time limit, since a slow network is not an error.
 * @throws SandflowError `go_missing` if Go cannot be run; `go_build_failed` with the end of the build's output
 */
export async function buildTemporalCli(options: GoBuildOptions): Promise<void> {
  const { directory, onProgress, go = 'go', signal, progressEveryMs = progressIntervalMs } = options;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const tail: string[] = [];
  let downloads = 0;
  const progress = () => {
    const what = downloads === 0 ? 'compiling' : `${downloads} modules downloaded, compiling`;
    onProgress(`building the Temporal server: ${what} (${elapsed()})`);
  };
  if (!(await isOnPath(go, options))) throw new SandflowError('go_missing', `The program "${go}" was not found.`);
  onProgress(
    `building the Temporal server v${cliVersion} with go install; the first time takes some minutes. ` +
      'Seconds would be enough with pip (python3 -m pip), with the archive from github.com, or with `temporal` on the PATH',
  );
  const timer = setInterval(progress, progressEveryMs);
  const onErrorLine = (line: string) => {
    if (line.startsWith('go: downloading ')) downloads += 1;
    else tail.push(line);
    tail.splice(0, tail.length - tailLines);
  };
  try {
    const variables = { GOBIN: directory };
    const run = { directory, variables, signal, onErrorLine };
    const end = await runProgram(go, ['install', ...buildFlags, goPackage], run);
    if (end?.exitCode === 0) return onProgress(`built the Temporal server in ${elapsed()}`);
    const output = withoutLogins(tail.join('\n').trim());
    throw new SandflowError('go_build_failed', `go install ${goPackage} failed:\n${output}`);
  } finally {
    clearInterval(timer);
  }
}

/** Looks for a program as the shell does, without running it. */
async function isOnPath(program: string, { directory, signal }: Making): Promise<boolean> {
  const end = await runProgram('sh', ['-c', 'command -v "$1"', 'sh', program], { directory, signal });
  return end?.exitCode === 0;
}
