/** Runs the programs that make a server: pip, tar, Go. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { spawnBoundToParent } from '../os/spawn-bound-to-parent.js';

export interface Making {
  /** An empty directory; the binary is put there as `temporal`. Whoever made the directory removes it. */
  readonly directory: string;
  readonly onProgress: (line: string) => void;
  /** Ends the making. */
  readonly signal?: AbortSignal;
}

interface ProgramOptions {
  /** Where it runs. Programs load code from there, so it must never be a directory that others fill. */
  readonly directory: string;
  /** Variables in addition to those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Kills the program and the processes that it started. */
  readonly signal?: AbortSignal;
  readonly onErrorLine?: (line: string) => void;
}

/** The exit code of `env` if it does not find the program. */
const notFoundExitCode = 127;

/**
 * Runs a program until it ends, without a time limit. It never outlives this process.
 * @returns undefined if there is no such program; `exitCode` is null if a signal has killed it
 */
export async function runProgram(program: string, args: readonly string[], options: ProgramOptions) {
  const { directory, variables = {}, signal, onErrorLine } = options;
  signal?.throwIfAborted();
  // `env` sets the variables, so that the rest of the environment need not be read here.
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const child = spawnBoundToParent('env', [...assignments, program, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, 'SIGKILL');
  };
  signal?.addEventListener('abort', kill, { once: true });
  let stdout = '';
  let stderr = '';
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onErrorLine?.(line);
  });
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('close', (code) => resolve(code));
      child.once('error', reject);
    });
    if (rest !== '') onErrorLine?.(rest);
    return exitCode === notFoundExitCode ? undefined : { exitCode, stdout, stderr };
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}

/** The SHA-256 of a file, hexadecimal. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
