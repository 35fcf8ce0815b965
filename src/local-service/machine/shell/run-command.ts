/** Runs one command, from its start to its outcome. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { CommandSpec, ShellLaunch, Surroundings } from '../isolation/launch.js';
import type { SandboxLimits } from '../limits/sandbox-limits.js';
import { MachineError } from '../machine-error.js';
import type { SandboxNetworks } from '../network/sandbox-networks.js';
import type { ProcessGroups } from '../processes/groups.js';
import type { ProcessGroup } from '../processes/records.js';
import { captureOutput, type OutputCapture } from './output-capture.js';

/**
 * After the shell has ended, a background process may keep the pipes open. Reading stops after this long without
 * output.
 */
const quietMs = 100;
const maxDrainMs = 2_000;

export interface CommandOutcome {
  /**
   * Null if a signal, an abort or the time limit ended the command. Bubblewrap reports a signal as shells do: 128 plus
   * its number.
   */
  readonly exitCode: number | null;
  /** The first 8 MiB; if there was more, a last line says how much was left out. */
  readonly stdout: string;
  /** Bounded like `stdout`. */
  readonly stderr: string;
  readonly durationMs: number;
  readonly timedOut: boolean;
}

export interface CommandWatch {
  /** Gets all output, without a limit. No character is split between two chunks. */
  readonly onStdout?: (chunk: string) => void;
  /**
   * On abort, the whole process group is ended: SIGTERM, then SIGKILL after two seconds. The run then resolves with the
   * output so far and `exitCode` null. If the signal is already aborted, nothing is started.
   */
  readonly signal?: AbortSignal;
}

export interface CommandContext {
  readonly launch: ShellLaunch;
  readonly groups: ProcessGroups;
  readonly networks: SandboxNetworks;
  readonly limits: SandboxLimits;
}

/** Resolves when the shell has ended, even if it left processes in the background. */
export async function runCommand(
  context: CommandContext,
  sandboxId: string,
  spec: CommandSpec,
  watch: CommandWatch = {},
): Promise<CommandOutcome> {
  if (watch.signal?.aborted) return { exitCode: null, stdout: '', stderr: '', durationMs: 0, timedOut: false };
  const startedAt = performance.now();
  const { child, group } = await startShell(context, sandboxId, spec);
  const outputs = [captureOutput(child.stdout, watch.onStdout), captureOutput(child.stderr)] as const;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  child.stdin.on('error', () => undefined);
  child.stdin.end(spec.stdin ?? '');

  const ending = watchForEnd(context.groups, group, spec.timeoutMs, watch.signal);
  const code = await exited;
  // If SIGTERM reaches the shell's child first, the shell reports that signal as an exit code of its own.
  const isCut = context.groups.wasEnded(group);
  const { timedOut, aborted } = await ending.stop();
  await drain(closed, outputs);
  const [stdout, stderr] = [outputs[0].finish(), outputs[1].finish()];
  detachOutput(child);
  context.groups.settle(group);
  const exitCode = timedOut || aborted || isCut ? null : code;
  return { exitCode, stdout, stderr, durationMs: Math.round(performance.now() - startedAt), timedOut };
}

export async function startShell(
  context: CommandContext,
  sandboxId: string,
  spec: CommandSpec,
): Promise<{ child: ChildProcessWithoutNullStreams; group: ProcessGroup }> {
  const network = await context.networks.take(sandboxId);
  let release = network.release;
  try {
    const limits = await context.limits.take(sandboxId);
    release = () => {
      network.release();
      limits.release();
    };
    const started = await startIn({ place: network.place, limits }, context, sandboxId, spec);
    // With isolation, background processes end with the command. Without it, they have no network of their own to lose.
    started.child.once('exit', release);
    return started;
  } catch (error) {
    release();
    throw error;
  }
}

async function startIn(
  around: Surroundings,
  { launch, groups }: CommandContext,
  sandboxId: string,
  spec: CommandSpec,
): Promise<{ child: ChildProcessWithoutNullStreams; group: ProcessGroup }> {
  const child = launch.start(sandboxId, spec, around);
  if (child.pid !== undefined) {
    const isMonitor = launch.isolation === 'bubblewrap';
    return { child, group: groups.add(sandboxId, child.pid, isMonitor, spec.commandId) };
  }
  const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
  throw new MachineError('bad_command', `${child.spawnfile} could not be started: ${cause.message}`, { cause });
}

/** Ends the group at the time limit or on the signal, and waits for its end before the outcome is returned. */
function watchForEnd(groups: ProcessGroups, group: ProcessGroup, timeoutMs?: number, signal?: AbortSignal) {
  let [timedOut, aborted] = [false, false];
  let ended: Promise<void> | undefined;
  const end = (): void => {
    ended ??= groups.end(group);
    // `stop` awaits it; until then a failure must not count as unhandled.
    ended.catch(() => undefined);
  };
  const onAbort = (): void => {
    aborted = true;
    end();
  };
  const onTimeout = (): void => {
    timedOut = true;
    end();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, Math.min(timeoutMs, 2 ** 31 - 1));
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    async stop(): Promise<{ timedOut: boolean; aborted: boolean }> {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      await ended;
      return { timedOut, aborted };
    },
  };
}

/** Reads until the pipes are closed or no output came for a while. The shell's own output is in the pipes already. */
async function drain(closed: Promise<void>, outputs: readonly OutputCapture[]): Promise<void> {
  let isClosed = false;
  const closing = closed.then(() => {
    isClosed = true;
  });
  const startedAt = performance.now();
  const seen = (): number => outputs.reduce((sum, output) => sum + output.pieces, 0);
  for (let before = -1; !isClosed && before !== seen() && performance.now() - startedAt < maxDrainMs; ) {
    before = seen();
    const quiet = new AbortController();
    const pause = delay(quietMs, undefined, { signal: quiet.signal }).catch(() => undefined);
    await Promise.race([closing, pause]);
    quiet.abort();
    // A busy event loop runs timers before it reads, so wait one turn for the pipes.
    await nextTurn();
  }
}

/**
 * Keeps reading and discards the output: a background process may continue to print, and a full pipe would block it.
 */
function detachOutput(child: ChildProcessWithoutNullStreams): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream.resume();
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
}
