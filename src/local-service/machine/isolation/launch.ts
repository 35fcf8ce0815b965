/** The parts of starting a command that are the same with and without isolation. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { CopyCall } from '../disk/copy-tree.js';
import type { CommandLimits } from '../limits/sandbox-limits.js';
import { MachineError } from '../machine-error.js';
import type { NetworkPlace } from '../network/sandbox-networks.js';
import { defaultProgramPath } from '../program.js';
import { startDescriptor } from './spawn-shell.js';

export interface CommandSpec {
  /** Run by `/bin/sh -c`; at most 120 KiB. */
  readonly command: string;
  /**
   * A path inside the sandbox, relative to its home, which is the default. If the command cannot enter the folder, it
   * ends with exit code 126.
   */
  readonly cwd?: string;
  /** Added to PATH, HOME, LANG, TERM, USER and SANDBOX_ID. Nothing of the service's own environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Empty by default. */
  readonly stdin?: string;
  /** No limit by default. */
  readonly timeoutMs?: number;
  /** Reported with the processes that the command starts. */
  readonly commandId?: string;
}

/** The network and the limits of a command, in addition to its isolation. */
export interface Surroundings {
  /** Without isolation, this is always the network of the machine. */
  readonly place: NetworkPlace;
  readonly limits: Pick<CommandLimits, 'enter' | 'shell'>;
}

export interface ShellLaunch {
  readonly isolation: 'bubblewrap' | 'plain';
  /**
   * Spawns the shell of a command. If the program cannot be started, the process has no `pid` and emits `error`.
   * @throws MachineError `bad_command`
   */
  start(sandboxId: string, spec: CommandSpec, around: Surroundings): ChildProcessWithoutNullStreams;
  /**
   * Copies a disk that its sandbox may be changing. Undefined without isolation: nothing is protected from the sandbox.
   */
  readonly copyCall?: CopyCall;
}

/** Linux allows 128 KiB for one argument. The rest is reserved for text that is added to the command. */
const maxCommandBytes = 120 * 1024;

/**
 * A shell ends with the service only after it has been bound to the service, and the service may die before that. So
 * the shell reports its start, and runs its command only after the service has answered. A subshell reads the answer,
 * so that no variable changes.
 */
function awaitWord(limits: string): string[] {
  const wait = `echo >&${startDescriptor} && (read -r word) <&${startDescriptor} || exit 1`;
  const close = `exec 3>&- ${startDescriptor}>&-`;
  return ['-c', [wait, close, ...(limits === '' ? [] : [limits]), 'exec /bin/sh "$@"'].join('; '), 'sh'];
}

/**
 * Holds fixed variables and those of the command. No variable of the service is passed on, because some hold its keys.
 */
export function sandboxEnvironment(sandboxId: string, home: string, spec: CommandSpec): Record<string, string> {
  return {
    PATH: defaultProgramPath,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    USER: 'sandbox',
    HOME: home,
    SANDBOX_ID: sandboxId,
    ...spec.env,
  };
}

/** @throws MachineError `bad_command` */
export function refuseLongCommand(command: string): void {
  if (Buffer.byteLength(command) <= maxCommandBytes) return;
  const advice = 'Write it to a file and run the file.';
  throw new MachineError('bad_command', `The command is longer than ${maxCommandBytes} bytes. ${advice}`);
}

/**
 * The shell's arguments. The shell itself changes to `cwd`, so that links in the path are resolved inside the sandbox.
 * If that fails, the command ends with exit code 126.
 * @param limits a line of shell that runs before the command; see `shellLimits`
 * @throws MachineError `bad_command`
 */
export function shellArguments(command: string, cwd: string | undefined, limits = ''): string[] {
  refuseLongCommand(command);
  if (command.includes('\0') || cwd?.includes('\0')) {
    throw new MachineError('bad_command', 'The command or its cwd contains a NUL character. Remove it.');
  }
  if (cwd === undefined) return [...awaitWord(limits), '-c', command];
  return [...awaitWord(limits), '-c', 'cd -- "$1" || exit 126; exec /bin/sh -c "$2"', 'sh', cwd, command];
}
