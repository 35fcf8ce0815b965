/** The script that starts one command inside a running sandbox, and reports its start and its exit code. */
import { quotedForShell } from '../../../../src/texts/shell-word.js';
import { type CommandSpec, refuseLongCommand } from '../isolation/launch.js';
import { MachineError } from '../machine-error.js';

/** Shells set these themselves, and may refuse to continue if a script does. */
const variablesOfShells = new Set(['UID', 'EUID', 'PPID', 'OPTIND', 'BASHOPTS', 'BASH_VERSINFO', 'SHELLOPTS']);

interface ScriptOptions {
  /** The folder of its pipes, as the sandbox sees it. */
  readonly at: string;
  /** All variables of the command. Those whose names a shell cannot export are left out. */
  readonly variables: Readonly<Record<string, string>>;
  /** A line of shell that sets the limits of the command. */
  readonly limits: string;
}

/**
 * The outer shell has only the pipe `status`. The inner one, which becomes the command, has the other pipes and no
 * handler of signals.
 * @throws MachineError `bad_command`
 */
export function startScript({ command, cwd, env = {} }: CommandSpec, { at, variables, limits }: ScriptOptions): string {
  refuseLongCommand(command);
  if ([command, cwd ?? '', ...Object.entries(env).flat()].some((text) => text.includes('\0'))) {
    throw new MachineError(
      'bad_command',
      'The command, its cwd or its environment contains a NUL character. Remove it.',
    );
  }
  return [
    'trap : HUP INT QUIT TERM USR1 USR2 ALRM',
    `exec 9>${at}/status`,
    '(',
    'echo "started $$" >&9',
    'exec 9>&-',
    limits,
    ...Object.entries(variables).flatMap(([name, value]) =>
      canExport(name) ? [`export ${name}=${quotedForShell(value)}`] : [],
    ),
    ...(cwd === undefined ? [] : [`cd -- ${quotedForShell(cwd)} || exit 126`]),
    `exec /bin/sh -c ${quotedForShell(command)}`,
    `) <${at}/stdin >${at}/stdout 2>${at}/stderr`,
    'echo "ended $?" >&9',
    '',
  ].join('\n');
}

function canExport(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !variablesOfShells.has(name);
}
