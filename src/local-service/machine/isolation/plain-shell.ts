/**
 * Runs commands without isolation: in a shell with its own process group, and with the disk as its home. A command can
 * read and change everything that the service can. File calls and `cwd` accept `/home/sandbox`; for the command, that
 * path does not exist.
 */
import { isAbsolute, join, posix } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { sandboxHome } from '../disk/directories.js';
import { findProgram, succeeds } from '../program.js';
import { type ShellLaunch, sandboxEnvironment, shellArguments } from './launch.js';
import { spawnShell } from './spawn-shell.js';

/** Checks once whether the kernel can end a shell together with the service. */
export async function createPlainShell(directories: MachineDirectories, programPath: string): Promise<ShellLaunch> {
  const setpriv = await findProgram('setpriv', programPath);
  const tied = setpriv !== undefined && (await succeeds(setpriv, ['--pdeathsig', 'KILL', '--', '/bin/sh', '-c', ':']));
  return {
    isolation: 'plain',
    start(sandboxId, spec) {
      const disk = directories.disk(sandboxId);
      const args = shellArguments(spec.command, spec.cwd === undefined ? undefined : outsidePath(disk, spec.cwd));
      const env = sandboxEnvironment(sandboxId, disk, spec);
      return tied
        ? spawnShell({ file: setpriv, args: ['--pdeathsig', 'KILL', '--', '/bin/sh', ...args], cwd: disk, env })
        : spawnShell({ file: '/bin/sh', args, cwd: disk, env });
    },
  };
}

function outsidePath(disk: string, cwd: string): string {
  if (!isAbsolute(cwd)) return join(disk, cwd);
  const path = posix.normalize(cwd);
  if (path === sandboxHome || path.startsWith(`${sandboxHome}/`)) return join(disk, path.slice(sandboxHome.length));
  return path;
}
