/** Runs a program of the machine itself, outside every sandbox, with nothing of the service's environment. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders to search for programs, for the service and for commands. */
export const defaultProgramPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface ProgramResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The absolute path of a program, so that no environment of a command can put another in its place. */
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

/** What such a program is started with. Messages are in English, so that they can be read by a program. */
export const programEnvironment = { PATH: defaultProgramPath, LC_ALL: 'C' };

interface ProgramOptions {
  /** What it reads from its standard input. Default: nothing. */
  readonly input?: string;
  /** How long it may take, in ms; then it is ended, and `exitCode` is null. Default: as long as it likes. */
  readonly timeoutMs?: number;
}

/** A program that is missing gives `exitCode` null. `stderr` says why there is no status of its own. */
export function runProgram(
  file: string,
  args: readonly string[],
  { input = '', timeoutMs = 0 }: ProgramOptions = {},
): Promise<ProgramResult> {
  const options = {
    env: programEnvironment,
    maxBuffer: 64 * 1024 * 1024,
    timeout: timeoutMs,
    killSignal: 'SIGKILL' as const,
  };
  return new Promise((resolve) => {
    const child = execFile(file, [...args], options, (error, stdout, stderr) => {
      if (!error) return resolve({ exitCode: 0, stdout, stderr });
      const { exitCode } = child;
      // The message of such an error has the whole command line.
      const ended = error.killed ? `it did not end within ${timeoutMs / 1_000} s` : `it ended with ${exitCode}`;
      const why = error.killed || exitCode !== null ? ended : error.message;
      resolve({ exitCode: error.killed ? null : exitCode, stdout, stderr: stderr.trim() === '' ? why : stderr });
    });
    // One that does not read to the end is no failure.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

export async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  return (await runProgram(file, args)).exitCode === 0;
}
