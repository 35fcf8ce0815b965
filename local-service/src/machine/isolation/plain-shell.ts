/**
 * Runs commands without isolation: in a shell with its own process group, and with the disk as its home. A command can
 * read and change everything that the service can. File calls and `cwd` accept `/home/sandbox`; for the command, that
 * path does not exist.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { isAbsolute, join, posix } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { sandboxHome } from '../disk/directories.js';
import { MachineError } from '../machine-error.js';
import { findProgram, succeeds } from '../program.js';
import { type CommandSpec, refuseLongCommand, sandboxEnvironment } from './launch.js';
import { spawnShell, startDescriptor } from './spawn-shell.js';

export interface PlainLaunch {
  readonly isolation: 'plain';
  /**
   * Spawns the shell of a command. If the program cannot be started, the process has no `pid` and emits `error`.
   * @throws MachineError `bad_command`
   */
  start(sandboxId: string, spec: CommandSpec): ChildProcessWithoutNullStreams;
}

/** Checks once whether the kernel can end a shell together with the service. */
export async function createPlainShell(directories: MachineDirectories, programPath: string): Promise<PlainLaunch> {
  const setpriv = await findProgram('setpriv', programPath);
  const tied = setpriv !== undefined && (await succeeds(setpriv, ['--pdeathsig', 'KILL', '--', '/bin/sh', '-c', ':']));
  return {
    isolation: 'plain',
    start(sandboxId, spec) {
      const disk = directories.disk(sandboxId);
      const args = shellArguments(spec.command, spec.cwd === undefined ? undefined : outsidePath(disk, spec.cwd));
      const env = sandboxEnvironment(sandboxId, disk, spec);
      const call = { cwd: disk, env, reportsStart: true };
      return tied
        ? spawnShell({ file: setpriv, args: ['--pdeathsig', 'KILL', '--', '/bin/sh', ...args], ...call })
        : spawnShell({ file: '/bin/sh', args, ...call });
    },
  };
}

/**
 * A shell ends with the service only after it has been bound to the service, and the service may die before that. So
 * the shell reports its start, and runs its command only after the service has answered. A subshell reads the answer,
 * so that no variable changes.
 */
const awaitWord = [
  '-c',
  `echo >&${startDescriptor} && (read -r word) <&${startDescriptor} || exit 1; exec ${startDescriptor}>&-; exec /bin/sh "$@"`,
  'sh',
];

/**
 * The shell's arguments. The shell itself changes to `cwd`. If that fails, the command ends with exit code 126.
 * @throws MachineError `bad_command`
 */
function shellArguments(command: string, cwd: string | undefined): string[] {
  refuseLongCommand(command);
  if (command.includes('\0') || cwd?.includes('\0')) {
    throw new MachineError('bad_command', 'The command or its cwd contains a NUL character. Remove it.');
  }
  if (cwd === undefined) return [...awaitWord, '-c', command];
  return [...awaitWord, '-c', 'cd -- "$1" || exit 126; exec /bin/sh -c "$2"', 'sh', cwd, command];
}

function outsidePath(disk: string, cwd: string): string {
  if (!isAbsolute(cwd)) return join(disk, cwd);
  const path = posix.normalize(cwd);
  if (path === sandboxHome || path.startsWith(`${sandboxHome}/`)) return join(disk, path.slice(sandboxHome.length));
  return path;
}
