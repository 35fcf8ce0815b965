/** How a command becomes a process: what every way of isolation has in common. */

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
  /** Where the program is started; seen from outside the sandbox. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to descriptor 3, which the program reads before it does anything else. */
  readonly descriptor3?: string;
  /** The same for descriptor 5. */
  readonly descriptor5?: Buffer;
}

/** What a command runs in, in addition to its isolation. */
export interface Surroundings {
  /** Without isolation always the network of the machine. */
  readonly place: NetworkPlace;
  readonly limits: Pick<CommandLimits, 'enter' | 'shell'>;
}

export interface ShellLaunch {
  readonly isolation: 'bubblewrap' | 'plain';
  call(sandboxId: string, spec: CommandSpec, around: Surroundings): ProgramCall;
  /** Copies a disk that its sandbox may be changing; undefined if there is nothing to protect from the sandbox. */
  readonly copyCall?: CopyCall;
}

/** Linux takes 128 KiB in one argument; some of it is kept for what surrounds the command. */
const maxCommandBytes = 120 * 1024;

/** The descriptor on which a shell reports its start and reads that it may continue. */
export const startDescriptor = 4;
export const startWord = 'go\n';

/**
 * A shell is bound to the service while it starts, and the service may die before that. So the shell runs its command only
 * after the service has answered, which it does once everything is bound. Read in a subshell, so that no variable changes.
 */
function awaitWord(limits: string): string[] {
  const wait = `echo >&${startDescriptor} && (read -r word) <&${startDescriptor} || exit 1`;
  const close = `exec 3>&- ${startDescriptor}>&-`;
  return ['-c', [wait, close, ...(limits === '' ? [] : [limits]), 'exec /bin/sh "$@"'].join('; '), 'sh'];
}

/** Always the same, and nothing of the service's own: that is where its keys are. */
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
 * The shell's arguments. A folder is entered by the shell itself, so that a link in its path means what it means inside; one
 * that cannot be entered ends the command with 126.
 * @param limits a line of shell that comes before; see `shellLimits`
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
