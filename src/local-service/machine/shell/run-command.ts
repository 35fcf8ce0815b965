/** Runs one command, from its start to its outcome. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Duplex, Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { endPlaceholders, inheritedDescriptors, withPlaceholders } from '../isolation/inherited-descriptors.js';
import type { SandboxLimits } from '../limits/sandbox-limits.js';
import { MachineError } from '../machine-error.js';
import type { CommandOutcome, CommandSpec, CommandWatch } from '../machine-host.js';
import type { SandboxNetworks } from '../network/sandbox-networks.js';
import type { ProcessGroups } from '../processes/groups.js';
import type { ProcessGroup } from '../processes/records.js';
import { type ShellLaunch, type Surroundings, startDescriptor, startWord } from './launch.js';
import { captureOutput, type OutputCapture } from './output-capture.js';

/**
 * After the shell has ended, a background process may keep the pipes open. Reading stops after this long without
 * output.
 */
const quietMs = 100;
const maxDrainMs = 2_000;

const lastDescriptor = 5;

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
  const outputs = [captureOutput(child.stdout, watch.onStdout), captureOutput(child.stderr, watch.onStderr)] as const;
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
  const { file, args, cwd, env, descriptor3, descriptor5 } = launch.call(sandboxId, spec, around);
  const pipeFor = (content: unknown) => (content === undefined ? 'ignore' : 'pipe');
  const inherited = inheritedDescriptors(lastDescriptor);
  let child: ChildProcessWithoutNullStreams;
  try {
    const own = ['pipe', 'pipe', 'pipe', pipeFor(descriptor3), 'pipe', pipeFor(descriptor5)] as const;
    const stdio = withPlaceholders(own, inherited);
    child = spawn(file, args, { cwd, env, detached: true, stdio }) as ChildProcessWithoutNullStreams;
  } catch (cause) {
    throw new MachineError('bad_command', 'The command or its environment cannot be handed to a shell.', { cause });
  }
  endPlaceholders(child, inherited);
  give(child.stdio[3], descriptor3);
  give(child.stdio[lastDescriptor as 3], descriptor5);
  giveStartWord(child.stdio[startDescriptor]);
  if (child.pid !== undefined) {
    const isMonitor = launch.isolation === 'bubblewrap';
    return { child, group: groups.add(sandboxId, child.pid, isMonitor, spec.commandId) };
  }
  const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
  throw new MachineError('bad_command', `${file} could not be started: ${cause.message}`, { cause });
}

function give(channel: unknown, content: string | Buffer | undefined): void {
  if (!(channel instanceof Writable)) return;
  // If the program has not started, its own error says so.
  channel.on('error', () => undefined);
  channel.end(content);
}

/** Answers the shell once it has reported its start; see `awaitWord` in `launch.ts`. */
function giveStartWord(channel: unknown): void {
  if (!(channel instanceof Duplex)) return;
  // A shell that ended before it reported its start needs no answer.
  channel.on('error', () => undefined);
  channel.once('data', () => channel.end(startWord));
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

/** Keeps reading and discards the output: a background process may go on printing, and a full pipe would block it. */
function detachOutput(child: ChildProcessWithoutNullStreams): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream.resume();
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
}
