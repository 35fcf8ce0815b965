/**
 * Compares the modules that a Go binary says it was built from with Go's checksum database. The database confirms the
 * module of the CLI, and its `go.sum` holds the sums of all others. This takes Go and one small download.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anySignal } from '../os/any-signal.js';
import { cliVersion } from './pinned-release.js';
import { type Making, runProgram } from './run-program.js';
import { withoutLogins } from './why-failed.js';

export const cliModule = 'github.com/temporalio/cli';
const checkTimeoutMs = 5_000;

interface CheckOptions extends Making {
  readonly binary: string;
  /** Default: `go` on the PATH. */
  readonly go?: string;
  /** How long the database may take, in ms. Default: 5000. */
  readonly checkTimeoutMs?: number;
}

export interface NamedModules {
  /** The path and the version of the module that was built. A build from a checkout names no sum of it. */
  readonly main: string;
  /** Path, version and sum of the modules that it uses, separated by spaces. A module without a sum has none. */
  readonly used: readonly string[];
}

/**
 * Without Go, or if the database cannot be reached, nothing is checked, and this is said except without Go.
 * @returns the modules that the binary names; undefined if they were not checked
 * @throws Error if the binary names another module or another sum
 */
export async function checkModules(options: CheckOptions): Promise<NamedModules | undefined> {
  const { onProgress, directory, binary, go = 'go', signal } = options;
  const version = await runProgram(go, ['version', '-m', binary], { directory, signal });
  if (!version) return undefined;
  const unchecked = (why: string) =>
    onProgress(`the modules of the Temporal server were not compared with Go's checksum database: ${why}`);
  if (version.exitCode !== 0) return void unchecked(lastLine(version.stderr));
  const named = parseModules(version.stdout);
  const main = `${cliModule} v${cliVersion}`;
  if (named.main !== main) throw new Error(`REFUSED: the binary was built from "${named.main}", and not from ${main}`);
  const sums = await publishedSums(options, go).catch((error: Error) => {
    signal?.throwIfAborted();
    unchecked(error.message);
  });
  if (!sums) return undefined;
  const other = named.used.find((used) => !sums.has(used));
  if (other !== undefined) throw new Error(`REFUSED: Go's checksum database does not confirm the module ${other}`);
  if (named.used.length === 0) throw new Error('REFUSED: the binary names no modules');
  onProgress(`Go's checksum database confirms the ${named.used.length} modules that the binary names`);
  return named;
}

/** Parses what `go version -m` prints. Exported for the script that checks all wheels. */
export function parseModules(output: string): NamedModules {
  const fields = output.split('\n').map((line) => line.trim().split('\t'));
  const of = (kind: string) => fields.filter(([first]) => first === kind).map(([, ...rest]) => rest.join(' ').trim());
  return { main: of('mod')[0] ?? '', used: [...of('dep'), ...of('=>')] };
}

/** The lines of `go.sum` of the CLI's module, after the database has confirmed this module. */
async function publishedSums(options: CheckOptions, go: string): Promise<ReadonlySet<string>> {
  const { directory, signal, checkTimeoutMs: timeoutMs = checkTimeoutMs } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = signal ? anySignal([signal, timeout]) : timeout;
  const variables = variablesOf(directory);
  const run = (args: readonly string[]) => runProgram(go, args, { directory, variables, signal: over });
  const module = `${cliModule}@v${cliVersion}`;
  const database = await run(['env', 'GOSUMDB']);
  if (database?.stdout.trim() === 'off') throw new Error('GOSUMDB=off');
  const download = await run(['mod', 'download', module]);
  if (timeout.aborted) throw new Error(`it did not answer for ${timeoutMs / 1000} s`);
  if (download?.exitCode !== 0) throw new Error(lastLine(download?.stderr ?? ''));
  const lines = await readFile(join(variables.GOMODCACHE, module, 'go.sum'), 'utf8');
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

function lastLine(text: string): string {
  return withoutLogins(text.trim().split('\n').at(-1)?.trim() ?? '');
}
