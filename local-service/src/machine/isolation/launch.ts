/** The parts of starting a command that are the same with and without isolation. */
import { maxCommandBytes } from '../../../../src/contract/workflow-safe/limits.js';
import { MachineError } from '../machine-error.js';
import { defaultProgramPath } from '../program.js';

export interface CommandSpec {
  /** Run by `/bin/sh -c`; at most 120 KiB. */
  readonly command: string;
  /**
   * A path inside the sandbox, relative to its home, which is the default. If the command cannot enter the folder, it
   * ends with exit code 126.
   */
  readonly cwd?: string;
  /**
   * Added to PATH, HOME, LANG, TERM, USER and SANDBOX_ID. Nothing of the service's own environment is passed on. A
   * variable whose name a shell cannot export may be left out.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Empty by default. */
  readonly stdin?: string;
  /** No limit by default. */
  readonly timeoutMs?: number;
  /** Reported with the processes that the command starts. */
  readonly commandId?: string;
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
