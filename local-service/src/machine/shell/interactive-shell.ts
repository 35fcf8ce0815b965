/** An interactive shell. Its pipes are passed on unchanged. It runs until it ends by itself or its user ends it. */

import type { Readable, Writable } from 'node:stream';
import { quotedForShell } from '../../../../src/texts/shell-word.js';
import type { ShellExit, Shells } from './shells.js';

export interface Terminal {
  /** The value of TERM. */
  readonly type: string;
  readonly columns: number;
  readonly rows: number;
}

export interface ShellSpec {
  /**
   * Run by `/bin/sh -c`; at most 120 KiB. Default: a shell that reads commands from `stdin`; bash, or sh without bash.
   */
  readonly command?: string;
  /** With a terminal, output and errors arrive together on `stdout`. Default: plain pipes. */
  readonly terminal?: Terminal;
  /** Variables that are added to those that every command gets. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface InteractiveShell {
  readonly stdin: Writable;
  /** Read both streams: an unread pipe blocks the shell. They end when no process holds them open any more. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ShellExit>;
  /**
   * Ends all processes of the shell: SIGTERM, then SIGKILL after two seconds. Returns when they are gone. Safe to
   * repeat.
   * @throws MachineError `processes_remain`
   */
  end(): Promise<void>;
}

const shellCommand = 'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi';

/** Starts the shell. From then on, it is one of the processes of the sandbox. */
export async function openInteractiveShell(
  shells: Shells,
  sandboxId: string,
  { command = shellCommand, terminal, env }: ShellSpec,
): Promise<InteractiveShell> {
  const shell = await shells.start(sandboxId, {
    command: terminal ? inTerminal(command, terminal) : command,
    env: terminal ? { ...env, TERM: terminal.type } : env,
  });
  // A shell may close its input before it ends. Later input is dropped.
  shell.stdin.on('error', () => undefined);
  const exited = shell.exited.then((exit): ShellExit => {
    shell.settle();
    // `script`, which creates the terminal, may exit with 0 if it gets SIGTERM before its command.
    return exit.exitCode === 0 && shell.wasEnded() ? { exitCode: null, signal: 'SIGTERM' } : exit;
  });
  let ending: Promise<void> | undefined;
  return {
    stdin: shell.stdin,
    stdout: shell.stdout,
    stderr: shell.stderr,
    exited,
    end() {
      // An interactive shell ignores SIGTERM, but ends at the end of its input.
      shell.stdin.destroy();
      ending ??= shell.end();
      return ending;
    },
  };
}

/**
 * Node has no pseudo-terminal, so `script` of util-linux creates one. If its input is a pipe, `script` leaves the echo
 * off, so `stty` switches it on. If `script` is not that of util-linux, the command gets plain pipes.
 */
function inTerminal(command: string, { columns, rows }: Terminal): string {
  const inside = `stty rows ${rows} cols ${columns} echo 2>/dev/null\n${command}`;
  const script = `exec script -qfec ${quotedForShell(inside)} /dev/null`;
  return `case "$(script --version </dev/null 2>/dev/null)" in *util-linux*) ${script} ;; esac\n${command}`;
}
