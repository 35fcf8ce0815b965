/**
 * Compares the modules that a Go binary says it was built from with Go's checksum database. The database confirms the
 * module of the CLI, and its `go.sum` holds the sums of all others. This takes Go and one small download.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anySignal, timeLimit } from '../os/any-signal.js';
import { cliVersion } from './pinned-release.js';
import { type Making, runProgram } from './run-program.js';
import { withoutLogins } from './why-failed.js';

/** The module that is built, and its version. */
const main = `github.com/temporalio/cli v${cliVersion}`;
const checkTimeoutMs = 5_000;

interface CheckOptions extends Making {
  readonly binary: string;
  /** Default: `go` on the PATH. */
  readonly go?: string;
  /** How long all of it may take, in ms. Default: 5000. */
  readonly checkTimeoutMs?: number;
}

export interface NamedModules {
  /** The path and the version of the module that was built. A build from a checkout names no sum of it. */
  readonly main: string;
  /** Path, version and sum of the modules that it uses, separated by spaces. A module without a sum has none. */
  readonly used: readonly string[];
}

/**
 * Without Go nothing is checked. If the database cannot be reached, nothing is checked either, and this is said.
 * @throws Error if the binary names another module or another sum
 */
export async function checkModules(options: CheckOptions): Promise<void> {
  const { onProgress, directory, binary, go = 'go', signal, checkTimeoutMs: timeoutMs = checkTimeoutMs } = options;
  const timeout = timeLimit(timeoutMs);
  const variables = variablesOf(directory);
  const run = async (...args: string[]) => {
    const over = signal ? anySignal([signal, timeout]) : timeout;
    const end = await runProgram(go, args, { directory, variables, signal: over });
    signal?.throwIfAborted();
    if (timeout.aborted) throw new Unchecked(`no answer came for ${timeoutMs / 1000} s`);
    if (end && end.exitCode !== 0) throw new Unchecked(withoutLogins(end.stderr.trim().split('\n').at(-1) ?? ''));
    return end?.stdout;
  };
  try {
    const named = await run('version', '-m', binary);
    if (named === undefined) return;
    const { main: built, used } = parseModules(named);
    if (built !== main) throw new Error(`REFUSED: the binary was built from "${built}", and not from ${main}`);
    if (used.length === 0) throw new Error('REFUSED: the binary names no modules');
    const sums = await publishedSums(run, variables.GOMODCACHE);
    const other = used.find((module) => !sums.has(module));
    if (other !== undefined) throw new Error(`REFUSED: Go's checksum database does not confirm the module ${other}`);
    onProgress("the modules that the binary names are those that Go's checksum database confirms");
  } catch (error) {
    if (!(error instanceof Unchecked)) throw error;
    onProgress(`the modules of the Temporal server were not compared with Go's checksum database: ${error.message}`);
  }
}

class Unchecked extends Error {}

/** Parses what `go version -m` prints. Exported for the script that checks all wheels. */
export function parseModules(output: string): NamedModules {
  const fields = output.split('\n').map((line) => line.trim().split('\t'));
  const of = (kind: string) => fields.filter(([first]) => first === kind).map(([, ...rest]) => rest.join(' ').trim());
  return { main: of('mod')[0] ?? '', used: [...of('dep'), ...of('=>')] };
}

/** The lines of `go.sum` of the CLI's module, after the database has confirmed this module. */
async function publishedSums(
  run: (...args: string[]) => Promise<string | undefined>,
  moduleCache: string,
): Promise<ReadonlySet<string>> {
  if ((await run('env', 'GOSUMDB'))?.trim() === 'off') throw new Unchecked('GOSUMDB=off');
  const module = main.replace(' ', '@');
  await run('mod', 'download', module);
  const lines = await readFile(join(moduleCache, module, 'go.sum'), 'utf8');
  return new Set(lines.split('\n').map((line) => line.trim()));
}

/** Leaves nothing in the home, asks the database whatever is private here, and takes no other Go. */
function variablesOf(directory: string) {
  return {
    GOPATH: join(directory, 'go'),
    GOMODCACHE: join(directory, 'go', 'pkg', 'mod'),
    GOFLAGS: '-modcacherw',
    GOTOOLCHAIN: 'local',
    GOWORK: 'off',
    GO111MODULE: 'on',
    GONOSUMDB: 'none',
  };
}
