/** Starts programs, and says what this machine or this process has too little of. */
import { spawn } from 'node:child_process';

/** What to raise or to free, by the code of the system's error. */
const shortages: Readonly<Record<string, string>> = {
  EMFILE: 'this process may open no more files: raise its limit (`ulimit -n`), or run less at once',
  ENFILE: 'this machine has as many open files as it may have: raise fs.file-max, or run less at once',
  EAGAIN: 'this user may start no more processes: raise the limit (`ulimit -u`, or pids.max of its control group)',
  ENOMEM: 'this machine has no memory left',
};

/** @returns what is short; undefined for an error of another kind */
export function shortageOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && Object.hasOwn(shortages, code) ? shortages[code] : undefined;
}

/** The reason of an error of the system, for people. */
export function systemReason(error: unknown): string {
  return shortageOf(error) ?? (error instanceof Error ? error.message : String(error));
}

/**
 * Like `spawn`, but throws if this process may open no more files. Node then returns a process without pipes, whose use is
 * a TypeError.
 */
export const startProgram = ((file: string, args: readonly string[], options: object) => {
  const child = spawn(file, args, options);
  if (child.stdio !== undefined) return child;
  // It is emitted later, and thrown here.
  child.on('error', () => undefined);
  const error: NodeJS.ErrnoException = new Error(`${file} cannot be started: ${shortages.EMFILE}`);
  throw Object.assign(error, { code: 'EMFILE', syscall: 'spawn' });
}) as typeof spawn;
