/**
 * Commands in a bubblewrap sandbox: the machine's programs to read, the disk at `/home/sandbox`, a /tmp and a process table of
 * its own, and nothing else of the machine. The network is shared, since agents need it: what listens on the machine's
 * loopback interface can be reached from inside. Each command has a process namespace of its own, so what it leaves in the
 * background ends with it.
 */
import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineDirectories } from './machine-directories.js';
import { SANDBOX_HOME } from './machine-directories.js';
import { MachineError } from './machine-error.js';
import { runProgram } from './program.js';
import { type ShellLaunch, sandboxEnvironment, shellArguments } from './shell-launch.js';

const PROGRAM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'];
/** Readable for a service that runs as root, and of no use to a command. */
const HIDDEN_FILES = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers'];
const HIDDEN_FOLDERS = ['/etc/ssl/private', '/etc/sudoers.d', '/etc/ssh'];

export function createBubblewrap(directories: MachineDirectories, bwrap: string): ShellLaunch {
  const machine = machineArguments(directories.root);
  return {
    isolation: 'bubblewrap',
    call(sandboxId, spec) {
      const mounts = mountArguments(directories.disk(sandboxId), directories.temporary(sandboxId));
      const shell = ['--hostname', sandboxId.replaceAll('_', '-'), '--', '/bin/sh'];
      return {
        file: bwrap,
        args: ['--args', '3', ...machine, ...mounts, ...shell, ...shellArguments(spec.command, spec.cwd)],
        cwd: '/',
        // Variables such as LD_PRELOAD would act on bubblewrap itself, outside of the sandbox; on its command line they would
        // be for everybody on the machine to read.
        env: {},
        descriptor3: variableArguments(sandboxEnvironment(sandboxId, SANDBOX_HOME, spec)),
      };
    },
    copyCall(options, source, target) {
      const mounts = ['--ro-bind', source, '/from', '--bind', target, '/to'];
      return { file: bwrap, args: [...machine, ...mounts, '--', 'cp', ...options, '--', '/from/.', '/to'] };
    },
  };
}

/** Undefined where bubblewrap works here; otherwise why not. Tried with all that a command gets: a container may refuse parts. */
export async function bubblewrapProblem(directories: MachineDirectories, bwrap: string): Promise<string | undefined> {
  const disk = await mkdtemp(join(directories.unfinished, 'probe-'));
  try {
    const args = [...machineArguments(directories.root), ...mountArguments(disk, disk), '--', '/bin/sh', '-c', ':'];
    const { exitCode, stderr } = await runProgram(bwrap, args);
    return exitCode === 0 ? undefined : stderr.trim() || `it ended with ${exitCode}`;
  } finally {
    await rm(disk, { recursive: true, force: true });
  }
}

function machineArguments(stateDirectory: string): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  args.push('--die-with-parent', '--new-session', '--proc', '/proc', '--dev', '/dev');
  for (const folder of PROGRAM_FOLDERS) args.push(...folderArguments(folder));
  for (const file of HIDDEN_FILES) if (kindOf(file) === 'file') args.push('--ro-bind', '/dev/null', file);
  for (const folder of HIDDEN_FOLDERS) if (kindOf(folder) === 'folder') args.push('--tmpfs', folder);
  args.push(...resolverArguments());
  if (PROGRAM_FOLDERS.some((folder) => stateDirectory.startsWith(`${folder}/`))) args.push('--tmpfs', stateDirectory);
  return args;
}

/** Arguments that end with NUL each, as bubblewrap reads them from a descriptor. */
function variableArguments(variables: Readonly<Record<string, string>>): string {
  const args = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);
  if (args.some((arg) => arg.includes('\0'))) {
    throw new MachineError('bad_command', 'The environment holds a NUL character, which no variable can.');
  }
  return args.map((arg) => `${arg}\0`).join('');
}

function mountArguments(disk: string, temporary: string): string[] {
  const home = ['--bind', disk, SANDBOX_HOME, '--bind', temporary, '/tmp'];
  return [...home, '--dir', '/var', '--symlink', '../tmp', '/var/tmp', '--remount-ro', '/', '--chdir', SANDBOX_HOME];
}

function folderArguments(folder: string): string[] {
  try {
    return ['--symlink', readlinkSync(folder), folder];
  } catch {
    return kindOf(folder) === 'folder' ? ['--ro-bind', folder, folder] : [];
  }
}

/** /etc/resolv.conf is often a link to a folder that is not shown inside. */
function resolverArguments(): string[] {
  try {
    const target = realpathSync('/etc/resolv.conf');
    return target.startsWith('/etc/') ? [] : ['--ro-bind', target, target];
  } catch {
    return [];
  }
}

function kindOf(path: string): 'file' | 'folder' | 'none' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'none';
  }
}
