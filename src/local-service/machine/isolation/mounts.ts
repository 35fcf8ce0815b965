/** What of the machine is seen inside a bubblewrap sandbox. */
import { readlinkSync, realpathSync } from 'node:fs';
import { sandboxHome } from '../disk/directories.js';
import { findHidden, kindOf } from './hidden-paths.js';

const programFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store'];
/** In which people keep what is theirs alone. */
const folderWithSecrets = '/opt';

export interface SeenMachine {
  /** Never shown. */
  readonly stateDirectory: string;
  /** What is shown as /etc; see `copySettings`. */
  readonly settings: string;
  /** Arguments of a /dev/shm that is bounded; empty if bubblewrap cannot. */
  readonly sharedMemory: readonly string[];
  /** Arguments of devices that take the place of the machine's; default: none do. */
  readonly devices?: readonly string[] | undefined;
}

export function machineArguments({ stateDirectory, settings, sharedMemory, devices = [] }: SeenMachine): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  args.push('--die-with-parent', '--new-session', '--dev', '/dev', ...sharedMemory, '--remount-ro', '/dev');
  args.push(...devices);
  // A sandbox of a service that runs as root is that user for the kernel, capabilities or not, and owns the settings in /proc/sys.
  args.push('--proc', '/proc', '--remount-ro', '/proc');
  for (const folder of programFolders) args.push(...folderArguments(folder));
  args.push('--ro-bind', settings, '/etc');
  for (const path of findHidden(folderWithSecrets)) args.push(...hiddenArguments(path));
  if (programFolders.some((folder) => stateDirectory.startsWith(`${folder}/`))) {
    args.push('--tmpfs', stateDirectory, '--remount-ro', stateDirectory);
  }
  return args;
}

export function diskArguments(disk: string, temporary: string): string[] {
  const home = ['--bind', disk, sandboxHome, '--bind', temporary, '/tmp'];
  return [...home, '--dir', '/var', '--symlink', '../tmp', '/var/tmp', '--remount-ro', '/', '--chdir', sandboxHome];
}

function folderArguments(folder: string): string[] {
  try {
    return ['--symlink', readlinkSync(folder), folder];
  } catch {
    return kindOf(folder) === 'folder' ? ['--ro-bind', folder, folder] : [];
  }
}

function hiddenArguments(path: string): string[] {
  const kind = kindOf(path);
  if (kind === 'folder') return ['--tmpfs', path, '--remount-ro', path];
  return kind === 'file' ? ['--ro-bind', '/dev/null', path] : [];
}

/**
 * /etc/resolv.conf is often a link to a folder that is not shown inside, and changes with the machine's network.
 * @param file what takes its place; default: itself
 */
export function resolverArguments(file?: string): string[] {
  try {
    const target = realpathSync('/etc/resolv.conf');
    return ['--ro-bind', file ?? target, target];
  } catch {
    return [];
  }
}
