/** What of the machine is seen inside a bubblewrap sandbox. */
import { readlinkSync, realpathSync } from 'node:fs';
import { SANDBOX_HOME } from '../machine-directories.js';
import { findHidden, kindOf } from './hidden-paths.js';

const PROGRAM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix/store'];
/** Those in which people keep what is theirs alone. */
const FOLDERS_WITH_SECRETS = ['/etc', '/opt'];
/** Of no use to a command, also where others may read them. */
const ALWAYS_HIDDEN = ['/etc/ssl/private', '/etc/sudoers.d', '/etc/ssh'];

/** @param sharedMemory arguments of a /dev/shm that is bounded; empty where bubblewrap cannot */
export function machineArguments(stateDirectory: string, sharedMemory: readonly string[]): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  args.push('--die-with-parent', '--new-session', '--dev', '/dev', ...sharedMemory, '--remount-ro', '/dev');
  // A sandbox of a service that runs as root is that user for the kernel, capabilities or not, and owns the settings in /proc/sys.
  args.push('--proc', '/proc', '--remount-ro', '/proc');
  for (const folder of PROGRAM_FOLDERS) args.push(...folderArguments(folder));
  for (const path of hiddenPaths()) args.push(...hiddenArguments(path));
  if (PROGRAM_FOLDERS.some((folder) => stateDirectory.startsWith(`${folder}/`))) args.push('--tmpfs', stateDirectory);
  return args;
}

export function diskArguments(disk: string, temporary: string): string[] {
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

function hiddenPaths(): string[] {
  const isBelow = (path: string): boolean => ALWAYS_HIDDEN.some((folder) => `${path}/`.startsWith(`${folder}/`));
  const found = FOLDERS_WITH_SECRETS.flatMap((folder) => findHidden(folder));
  return [...ALWAYS_HIDDEN, ...found.filter((path) => !isBelow(path))];
}

function hiddenArguments(path: string): string[] {
  const kind = kindOf(path);
  if (kind === 'folder') return ['--tmpfs', path, '--remount-ro', path];
  return kind === 'file' ? ['--ro-bind', '/dev/null', path] : [];
}

/**
 * /etc/resolv.conf is often a link to a folder that is not shown inside.
 * @param file what takes its place; default: itself
 */
export function resolverArguments(file?: string): string[] {
  try {
    const target = realpathSync('/etc/resolv.conf');
    if (file !== undefined) return ['--ro-bind', file, target];
    return target.startsWith('/etc/') ? [] : ['--ro-bind', target, target];
  } catch {
    return [];
  }
}
