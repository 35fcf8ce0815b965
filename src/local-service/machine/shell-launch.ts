/** How a command becomes a process: what every way of isolation has in common. */
import { MachineError } from './machine-error.js';
import type { CommandSpec } from './machine-host.js';
import type { NetworkPlace } from './network/sandbox-networks.js';
import { PROGRAM_PATH } from './program.js';
import type { CopyCall } from './tree-copy.js';

export interface ProgramCall {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** Where the program is started; seen from outside the sandbox. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to descriptor 3, which the program reads before it does anything else. */
  readonly descriptor3?: string;
}

export interface ShellLaunch {
  readonly isolation: 'bubblewrap' | 'plain';
  /** @param place the network that the command is put in; without isolation always that of the machine */
  call(sandboxId: string, spec: CommandSpec, place: NetworkPlace): ProgramCall;
  /** Copies a disk that its sandbox may be changing; undefined where there is nothing to protect from the sandbox. */
  readonly copyCall?: CopyCall;
}

/** Linux takes 128 KiB in one argument; some of it is kept for what surrounds the command. */
const MAX_COMMAND_BYTES = 120 * 1024;

/** Where a shell says that it is there and hears that it may go on. */
export const START_DESCRIPTOR = 4;
export const START_WORD = 'go\n';

/**
 * What binds a shell to the service is asked for while it starts, and the service may be dead by then: it begins with its
 * command only when the service answers, which is when all is bound. Read in a shell of its own, so that no variable changes.
 */
const AWAIT_WORD = [
  '-c',
  `echo >&${START_DESCRIPTOR} && (read -r word) <&${START_DESCRIPTOR} || exit 1; exec 3>&- ${START_DESCRIPTOR}>&-; exec /bin/sh "$@"`,
  'sh',
];

/** Always the same, and nothing of the service's own: that is where its keys are. */
export function sandboxEnvironment(sandboxId: string, home: string, spec: CommandSpec): Record<string, string> {
  return {
    PATH: PROGRAM_PATH,
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
 * @throws MachineError `bad_command`
 */
export function shellArguments(command: string, cwd: string | undefined): string[] {
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    throw new MachineError(
      'bad_command',
      `The command is longer than ${MAX_COMMAND_BYTES} bytes: write it to a file and run that.`,
    );
  }
  if (command.includes('\0') || cwd?.includes('\0')) {
    throw new MachineError('bad_command', 'The command or its folder holds a NUL character, which no shell can take.');
  }
  if (cwd === undefined) return [...AWAIT_WORD, '-c', command];
  return [...AWAIT_WORD, '-c', 'cd -- "$1" || exit 126; exec /bin/sh -c "$2"', 'sh', cwd, command];
}
