/** Runs a program of the machine itself, outside every sandbox, with nothing of the service's environment. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/** Where programs are looked for, by the service and by commands. */
export const PROGRAM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface ProgramResult {
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
export const PROGRAM_ENVIRONMENT = { PATH: PROGRAM_PATH, LC_ALL: 'C' };

/**
 * A program that is missing gives `exitCode` null.
 * @param input what it reads from its standard input
 */
export function runProgram(file: string, args: readonly string[], input = ''): Promise<ProgramResult> {
  const options = { env: PROGRAM_ENVIRONMENT, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    const child = execFile(file, [...args], options, (error, stdout, stderr) => {
      resolve({ exitCode: error ? child.exitCode : 0, stdout, stderr: stderr || (error?.message ?? '') });
    });
    // One that does not read to the end is no failure.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

export async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  return (await runProgram(file, args)).exitCode === 0;
}
