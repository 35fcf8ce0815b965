/** Starts and stops a process of the bench. The process ends with the bench, however the bench ends. */
import { createWriteStream } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnBoundToParent } from '../../src/os/spawn-bound-to-parent.js';
import { cpuSeconds, residentMb } from '../measure/process-usage.js';
import type { ProcessMessage } from './entry.js';

const maxReadyMs = 60_000;
const graceMs = 60_000;

export interface Child {
  readonly pid: number;
  /** The URL at which it serves; empty for a worker. */
  readonly url: string;
  cpuSeconds(): number;
  residentMb(): number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** Sends a message to the process. */
  send(message: object): void;
  /** Ends the process and waits for its end. Repeating it changes nothing. */
  stop(): Promise<void>;
  /** Like `stop`, but with SIGKILL. */
  kill(): Promise<void>;
}

export interface ChildOptions {
  /** The settings of the process, passed on as JSON. */
  readonly settings: unknown;
  readonly logFile: string;
  readonly onMessage?: (message: ProcessMessage) => void;
}

/** @param entry the program, which calls `serve` */
export async function startChild(entry: URL, options: ChildOptions): Promise<Child> {
  const program = fileURLToPath(entry);
  const name = basename(program, '.js');
  // `node --cpu-prof` then writes a profile of each process.
  const args = [...process.execArgv, program, JSON.stringify(options.settings)];
  const child = spawnBoundToParent(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = createWriteStream(options.logFile, { flags: 'a' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  const exited = new Promise<void>((resolve) => child.once('close', () => log.end(resolve)));
  const stop = async () => {
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await exited;
    clearTimeout(patience);
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const send = (message: object) => void child.send(message);
  const ready = new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`The ${name} was not ready in time.`)), maxReadyMs);
    child.once('exit', () => reject(new Error(`The ${name} ended; its log is ${options.logFile}.`)));
    child.on('message', (message: ProcessMessage) => {
      options.onMessage?.(message);
      if (message.kind !== 'ready') return;
      clearTimeout(late);
      resolve(message.url ?? '');
    });
  });
  try {
    const url = await ready;
    const { pid } = child;
    if (pid === undefined) throw new Error(`The ${name} has no process id.`);
    const usage = { cpuSeconds: () => cpuSeconds(pid), residentMb: () => residentMb(pid) };
    return { pid, url, ...usage, exited, send, stop, kill };
  } catch (error) {
    await stop();
    throw error;
  }
}
