/** An interactive shell: its pipes are handed over as they are, and it lives until it or its user ends it. */
import type { Readable, Writable } from 'node:stream';
import { type CommandContext, startShell } from './run-command.js';

export interface Terminal {
  /** Becomes TERM. */
  readonly type: string;
  readonly columns: number;
  readonly rows: number;
}

export interface ShellSpec {
  /** Run by `/bin/sh -c`; at most 120 KiB. Default: a shell that reads its commands from `stdin`, bash if it exists. */
  readonly command?: string;
  /** Default: plain pipes. With it, output and errors come together on `stdout`. */
  readonly terminal?: Terminal;
  /** Added as for commands. */
  readonly env?: Readonly<Record<string, string>>;
}

interface ShellExit {
  /** Null when a signal ended it. Bubblewrap and terminals report a signal as a shell does: 128 and its number. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface InteractiveShell {
  readonly stdin: Writable;
  /** Both must be read: a pipe that nobody reads stops the shell. They end when no process holds them any more. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ShellExit>;
  /**
   * Ends all processes of the shell: SIGTERM, then SIGKILL after two seconds. Returns when they are gone. Safe to repeat.
   * @throws MachineError `processes_remain`
   */
  end(): Promise<void>;
}

const shellCommand = 'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi';

/** Starts the shell. The groups know its processes from the first moment. */
export async function openInteractiveShell(
  context: CommandContext,
  sandboxId: string,
  { command = shellCommand, terminal, env }: ShellSpec,
): Promise<InteractiveShell> {
  const { child, group } = await startShell(context, sandboxId, {
    command: terminal ? inTerminal(command, terminal) : command,
    env: terminal ? { ...env, TERM: terminal.type } : env,
  });
  // A shell may close its input before it ends: what is still written to it has nowhere to go.
  child.stdin.on('error', () => undefined);
  const exited = new Promise<ShellExit>((resolve) => {
    child.once('exit', (exitCode, signal) => {
      context.groups.settle(group);
      // `script`, which creates the terminal, may exit with 0 if it gets SIGTERM before its command.
      const cut = exitCode === 0 && context.groups.wasEnded(group);
      resolve(cut ? { exitCode: null, signal: 'SIGTERM' } : { exitCode, signal });
    });
  });
  let ending: Promise<void> | undefined;
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    end() {
      // An interactive shell ignores SIGTERM, but ends at the end of its input.
      child.stdin.destroy();
      ending ??= context.groups.end(group);
      return ending;
    },
  };
}

/**
 * Node has no pseudo-terminal; `script` of util-linux creates one. With a pipe as input it leaves the echo off, so `stty`
 * switches it on. Without that `script` the command gets the pipes.
 */
function inTerminal(command: string, { columns, rows }: Terminal): string {
  const inside = `stty rows ${rows} cols ${columns} echo 2>/dev/null\n${command}`;
  const script = `exec script -qfec ${quoted(inside)} /dev/null`;
  return `case "$(script --version </dev/null 2>/dev/null)" in *util-linux*) ${script} ;; esac\n${command}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
