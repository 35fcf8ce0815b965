/** The named pipes that connect the service with one command of a running sandbox. */
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { MachineError } from '../machine-error.js';
import { runProgram } from '../program.js';

const names = ['script', 'stdin', 'stdout', 'stderr', 'status'] as const;

export interface ShellPipes {
  /** The script of the command. It is never written to a disk, because it holds the variables of the command. */
  readonly script: Writable;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What the script reports about its command. */
  readonly status: Readable;
  /** Resolves when no process holds `stdout` or `stderr` open any more, and both were read. */
  readonly outputClosed: Promise<unknown>;
  /** Call it when the script has opened the pipes. Then they have no names any more, and end with their users. */
  opened(): Promise<void>;
  /** Closes what is left. Safe to repeat. */
  destroy(): Promise<void>;
}

/**
 * Creates the pipes in `folder`, which must not exist.
 * @throws MachineError `isolation_unavailable`
 */
export async function openShellPipes(folder: string): Promise<ShellPipes> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { exitCode, stderr: problem } = await runProgram('mkfifo', [
    '-m',
    '600',
    ...names.map((name) => join(folder, name)),
  ]);
  if (exitCode !== 0) {
    await rm(folder, { recursive: true, force: true });
    throw new MachineError('isolation_unavailable', `The pipes of the command could not be made: ${problem.trim()}`);
  }
  const open = (name: string, flag: number): number => openSync(join(folder, name), flag | constants.O_NONBLOCK);
  /** Without a reader, a pipe cannot be opened for writing, and loses what was written. */
  let readers: number[] = [];
  const writer = (name: string): Socket => {
    readers.push(open(name, constants.O_RDWR));
    return new Socket({ fd: open(name, constants.O_WRONLY), readable: false, writable: true });
  };
  const reader = (name: string): Socket =>
    new Socket({ fd: open(name, constants.O_RDONLY), readable: true, writable: false });
  const [script, stdin, stdout, stderr, status] = [
    writer('script'),
    writer('stdin'),
    reader('stdout'),
    reader('stderr'),
    reader('status'),
  ];
  const outputClosed = Promise.all([stdout, stderr].map(closing));
  for (const stream of [script, stdin, stdout, stderr, status]) stream.on('error', () => undefined);
  const opened = async (): Promise<void> => {
    for (const descriptor of readers) closeSync(descriptor);
    readers = [];
    await rm(folder, { recursive: true, force: true });
  };
  return {
    script,
    stdin,
    stdout,
    stderr,
    status,
    outputClosed,
    opened,
    async destroy() {
      for (const stream of [script, stdin, stdout, stderr, status]) stream.destroy();
      await opened();
    },
  };
}

/** Call it before anything else can happen: without output, a pipe closes as soon as its writer has ended. */
function closing(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}
