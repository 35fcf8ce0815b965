/** Runs a program of the machine itself, outside every sandbox, with nothing of the service's environment. */
import { execFile } from 'node:child_process';

export interface ProgramResult {
  readonly exitCode: number | null;
  readonly stderr: string;
}

/** Messages are in English, so that they can be read by a program. A program that is missing gives `exitCode` null. */
export function runProgram(file: string, args: readonly string[]): Promise<ProgramResult> {
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  return new Promise((resolve) => {
    const child = execFile(file, [...args], { env, maxBuffer: 64 * 1024 * 1024 }, (error, _stdout, stderr) => {
      resolve({ exitCode: error ? child.exitCode : 0, stderr: stderr || (error?.message ?? '') });
    });
  });
}

export async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  return (await runProgram(file, args)).exitCode === 0;
}
