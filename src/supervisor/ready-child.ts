/** Starts child processes that report on their standard output when they are ready. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { SandflowError } from '../errors/sandflow-error.js';
import { anySignal } from '../os/any-signal.js';
import type { RotatingLog } from '../os/rotating-log.js';
import { endChild, exitOf, spawnBoundToParent } from '../os/spawn-bound-to-parent.js';
import { parseJson } from '../texts/parse-json.js';
import type { ChildCommand } from './children.js';
import type { RunningService } from './keep-running.js';

/** How long the child may take until it is ready. */
const maxReadyMs = 60_000;
const readySchema = z.looseObject({ ready: z.literal(true), url: z.string().optional() });

interface ReadyChildOptions {
  /** Its working directory. */
  readonly cwd: string;
  readonly log: RotatingLog;
  /** How long the child may run after SIGTERM before it is killed, in ms. */
  readonly graceMs: number;
  /** Ends the child while it starts. */
  readonly signal: AbortSignal;
}

/**
 * Starts the command and waits for its line `{"ready":true,"url":…}`. The whole output of the child goes to its log.
 * @throws SandflowError `child_failed` if the child ends or the time is over before that line
 */
export async function startReadyChild(command: ChildCommand, options: ReadyChildOptions): Promise<RunningService> {
  const { log, signal, graceMs } = options;
  signal.throwIfAborted();
  const child = spawnChild(command, options);
  const exited = exitOf(child, 'exit');
  const stop = () => endChild(child, exited, { graceMs });
  const over = new AbortController();
  const giveUp = anySignal([signal, over.signal]);
  const late = sleep(maxReadyMs, undefined, { signal: giveUp }).catch(() => undefined);
  const ready = await Promise.race([readyLine(child, log), exited.then(() => undefined), late]);
  over.abort();
  if (!ready) {
    await stop();
    signal.throwIfAborted();
    throw new SandflowError(
      'child_failed',
      `The ${command.name} did not start. Its log is ${log.path}.\n${log.tail()}`,
    );
  }
  return { pid: child.pid, url: ready.url, exited, stop };
}

function spawnChild({ command, args }: ChildCommand, { cwd, log }: ReadyChildOptions): ChildProcess {
  const child = spawnBoundToParent(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr?.on('data', (chunk: Buffer) => log.write(chunk));
  return child;
}

function readyLine(child: ChildProcess, log: RotatingLog): Promise<z.infer<typeof readySchema>> {
  return new Promise((resolve) => {
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.write(`${line}\n`);
      const parsed = readySchema.safeParse(parseJson(line));
      if (parsed.success) resolve(parsed.data);
    });
  });
}
