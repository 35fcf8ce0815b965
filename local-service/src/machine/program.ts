/** Runs a program of the machine outside every sandbox, without the environment of the service. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { boundByKernel } from '../../../src/os/spawn-bound-to-parent.js';
import { systemReason } from '../../../src/os/start-program.js';

/** The folders in which the service and commands search for programs. */
export const defaultProgramPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface ProgramResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The absolute path of a program, so that no variable of a command can replace it with another program. */
export async function findProgram(name: string, programPath: string): Promise<string | undefined> {
  for (const folder of programPath.split(':')) {
    const file = join(folder, name);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return file;
  }
  return undefined;
}

/** The environment of such a program. `LC_ALL` keeps messages in English, so that the service can parse them. */
export const programEnvironment = { PATH: defaultProgramPath, LC_ALL: 'C' };

interface ProgramOptions {
  /** The program's standard input. Default: empty. */
  readonly input?: string;
  /** How long the program may run, in ms. After that it is killed, and `exitCode` is null. Default: no limit. */
  readonly timeoutMs?: number;
  /** Kills the program; `exitCode` is null then. */
  readonly signal?: AbortSignal | undefined;
  /** Added to `programEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the program ends with the service, even if the service is killed. Only where the kernel can do that. */
  readonly isBound?: boolean;
}

/**
 * If the program is missing, `exitCode` is null. If the program fails without a message, `stderr` says how it ended.
 */
export function runProgram(
  file: string,
  args: readonly string[],
  { input = '', timeoutMs = 0, signal, env, isBound = false }: ProgramOptions = {},
): Promise<ProgramResult> {
  const options = {
    env: { ...programEnvironment, ...env },
    signal,
    maxBuffer: 64 * 1024 * 1024,
    timeout: timeoutMs,
    killSignal: 'SIGKILL' as const,
  };
  const started = (isBound && boundByKernel(file, args)) || { file, args };
  return new Promise((resolve) => {
    const child = execFile(started.file, started.args, options, (error, stdout, stderr) => {
      if (!error) return resolve({ exitCode: 0, stdout, stderr });
      // Node gives a program that did not start the negative number of the error.
      const exitCode = child.exitCode !== null && child.exitCode < 0 ? null : child.exitCode;
      // Not the message of the error, which holds the whole command line.
      const ended = error.killed ? `it did not end within ${timeoutMs / 1_000} s` : `it ended with ${exitCode}`;
      const why = error.killed || exitCode !== null ? ended : systemReason(error);
      const result = { exitCode: error.killed ? null : exitCode, stdout, stderr: stderr.trim() === '' ? why : stderr };
      // An abort is reported before the program has ended, while it may still write.
      const runs = child.pid !== undefined && exitCode === null && child.signalCode === null;
      if (runs) child.once('exit', () => resolve(result));
      else resolve(result);
    });
    // A program that does not read all its input has not failed.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

export async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  return (await runProgram(file, args)).exitCode === 0;
}
