/** The named pipes that connect the service with one command of a running sandbox. */
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { systemReason } from '../../../../src/os/start-program.js';
import { MachineError } from '../machine-error.js';

/** In the folder of each command. */
export const pipeNames = ['script', 'stdin', 'stdout', 'stderr', 'status'] as const;
type PipeName = (typeof pipeNames)[number];

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
 * Opens the pipes in `folder`.
 * @throws MachineError `isolation_unavailable`
 */
export async function openShellPipes(folder: string): Promise<ShellPipes> {
  const opened: number[] = [];
  const open = (name: PipeName, flag: number): number => {
    const descriptor = openSync(join(folder, name), flag | constants.O_NONBLOCK);
    opened.push(descriptor);
    return descriptor;
  };
  const { O_RDONLY, O_WRONLY, O_RDWR } = constants;
  let descriptors: Record<PipeName, number>;
  /** Without a reader, a pipe cannot be opened for writing, and loses what was written. */
  let readers: number[];
  try {
    readers = [open('script', O_RDWR), open('stdin', O_RDWR)];
    descriptors = {
      script: open('script', O_WRONLY),
      stdin: open('stdin', O_WRONLY),
      stdout: open('stdout', O_RDONLY),
      stderr: open('stderr', O_RDONLY),
      status: open('status', O_RDONLY),
    };
  } catch (cause) {
    for (const descriptor of opened) closeSync(descriptor);
    await rm(folder, { recursive: true, force: true });
    const message = `The pipes of the command could not be opened: ${systemReason(cause)}`;
    throw new MachineError('isolation_unavailable', message, { cause });
  }
  const writer = (fd: number): Socket => new Socket({ fd, readable: false, writable: true });
  const reader = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });
  const [script, stdin] = [writer(descriptors.script), writer(descriptors.stdin)];
  const [stdout, stderr, status] = [reader(descriptors.stdout), reader(descriptors.stderr), reader(descriptors.status)];
  const outputClosed = Promise.all([stdout, stderr].map(closing));
  for (const stream of [script, stdin, stdout, stderr, status]) stream.on('error', () => undefined);
  const dropNames = async (): Promise<void> => {
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
    opened: dropNames,
    async destroy() {
      for (const stream of [script, stdin, stdout, stderr, status]) stream.destroy();
      await dropNames();
    },
  };
}

/** Call it before anything else can happen: without output, a pipe closes as soon as its writer has ended. */
function closing(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}
