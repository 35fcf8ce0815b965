/** Runs one command, from its start to its outcome. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { CommandSpec } from '../isolation/launch.js';
import { captureOutput, type OutputCapture } from './output-capture.js';
import type { Shells, StartedShell } from './shells.js';

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
   * On abort, the processes of the command are ended: SIGTERM, then SIGKILL after two seconds. The run then resolves with the
   * output so far and `exitCode` null. If the signal is already aborted, nothing is started.
   */
  readonly signal?: AbortSignal;
}

/** Resolves when the shell has ended, even if it left processes in the background. */
export async function runCommand(
  shells: Shells,
  sandboxId: string,
  spec: CommandSpec,
  watch: CommandWatch = {},
): Promise<CommandOutcome> {
  if (watch.signal?.aborted) return { exitCode: null, stdout: '', stderr: '', durationMs: 0, timedOut: false };
  const startedAt = performance.now();
  const shell = await shells.start(sandboxId, spec);
  const outputs = [captureOutput(shell.stdout, watch.onStdout), captureOutput(shell.stderr)] as const;
  shell.stdin.on('error', () => undefined);
  shell.stdin.end(spec.stdin ?? '');

  const ending = watchForEnd(shell, spec.timeoutMs, watch.signal);
  const { exitCode: code } = await shell.exited;
  // If SIGTERM reaches the shell's child first, the shell reports that signal as an exit code of its own.
  const isCut = shell.wasEnded();
  const { timedOut, aborted } = await ending.stop();
  await drain(shell.closed, outputs);
  const [stdout, stderr] = [outputs[0].finish(), outputs[1].finish()];
  detachOutput(shell);
  shell.settle();
  const exitCode = timedOut || aborted || isCut ? null : code;
  return { exitCode, stdout, stderr, durationMs: Math.round(performance.now() - startedAt), timedOut };
}

/** Ends the shell at the time limit or on the signal, and waits for its end before the outcome is returned. */
function watchForEnd(shell: StartedShell, timeoutMs?: number, signal?: AbortSignal) {
  let [timedOut, aborted] = [false, false];
  let ended: Promise<void> | undefined;
  const end = (): void => {
    ended ??= shell.end();
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
  if (signal?.aborted) onAbort();
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
function detachOutput({ stdout, stderr }: StartedShell): void {
  for (const stream of [stdout, stderr]) {
    stream.resume();
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
}
