/** How a command becomes a process. This part is the same with and without isolation. */

import type { CopyCall } from '../disk/copy-tree.js';
import type { CommandLimits } from '../limits/sandbox-limits.js';
import { MachineError } from '../machine-error.js';
import type { CommandSpec } from '../machine-host.js';
import type { NetworkPlace } from '../network/sandbox-networks.js';
import { defaultProgramPath } from './program.js';

interface ProgramCall {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** The working directory of the program, as a path outside the sandbox. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to descriptor 3, which the program reads before it does anything else. */
  readonly descriptor3?: string;
  /** Written to descriptor 5, which the program reads before it does anything else. */
  readonly descriptor5?: Buffer;
}

/** The network and the limits of a command, in addition to its isolation. */
export interface Surroundings {
  /** Without isolation, this is always the network of the machine. */
  readonly place: NetworkPlace;
  readonly limits: Pick<CommandLimits, 'enter' | 'shell'>;
}

export interface ShellLaunch {
  readonly isolation: 'bubblewrap' | 'plain';
  call(sandboxId: string, spec: CommandSpec, around: Surroundings): ProgramCall;
  /**
   * Copies a disk that its sandbox may be changing. Undefined without isolation: nothing is protected from the sandbox.
   */
  readonly copyCall?: CopyCall;
}

/** Linux allows 128 KiB for one argument. The rest is reserved for text that is added to the command. */
const maxCommandBytes = 120 * 1024;

/** The descriptor on which a shell reports its start and reads that it may continue. */
export const startDescriptor = 4;
export const startWord = 'go\n';

/**
 * A shell ends with the service only once it is bound to it, and the service may die before that. So the shell reports
 * its start and runs its command only after the service has answered. A subshell reads the answer, so that no variable
 * changes.
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

/**
 * The shell's arguments. The shell itself changes to `cwd`, so that links in the path are resolved inside the sandbox.
 * If that fails, the command ends with exit code 126.
 * @param limits a line of shell that runs before the command; see `shellLimits`
 * @throws MachineError `bad_command`
 */
export function shellArguments(command: string, cwd: string | undefined, limits = ''): string[] {
  if (Buffer.byteLength(command) > maxCommandBytes) {
    throw new MachineError(
      'bad_command',
      `The command is longer than ${maxCommandBytes} bytes: write it to a file and run that.`,
    );
  }
  if (command.includes('\0') || cwd?.includes('\0')) {
    throw new MachineError('bad_command', 'The command or its folder holds a NUL character, which no shell can take.');
  }
  if (cwd === undefined) return [...awaitWord(limits), '-c', command];
  return [...awaitWord(limits), '-c', 'cd -- "$1" || exit 126; exec /bin/sh -c "$2"', 'sh', cwd, command];
}
