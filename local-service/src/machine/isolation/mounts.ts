/** Which parts of the machine are visible inside a bubblewrap sandbox. */
import { readlinkSync, realpathSync } from 'node:fs';
import { sandboxHome } from '../disk/directories.js';
import { findHidden, kindOf } from './hidden-paths.js';

const programFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store'];
/** People keep files here that only their owner may read. */
const folderWithSecrets = '/opt';

export interface SeenMachine {
  /** Never visible in a sandbox. */
  readonly stateDirectory: string;
  /** The folder that sandboxes see as /etc; see `copySettings`. */
  readonly settings: string;
  /** Arguments that show the first program of a sandbox; see `writeInit`. */
  readonly init: readonly string[];
  /** Arguments for a /dev/shm of bounded size; empty if this bubblewrap does not support it. */
  readonly sharedMemory: readonly string[];
  /** Arguments for devices that replace the machine's own. Default: the machine's devices stay. */
  readonly devices?: readonly string[] | undefined;
  /** Further folders of programs, which are visible too; see `checkedProgramFolders`. Default: none. */
  readonly programs?: readonly string[] | undefined;
}

export function machineArguments({
  stateDirectory,
  settings,
  init,
  sharedMemory,
  devices = [],
  programs = [],
}: SeenMachine): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  args.push('--die-with-parent', '--new-session', '--dev', '/dev', ...sharedMemory, '--remount-ro', '/dev');
  args.push(...devices);
  // Read-only: if the service runs as root, the kernel treats the sandbox as root too, as the owner of the settings in
  // /proc/sys.
  args.push('--proc', '/proc', '--remount-ro', '/proc');
  for (const folder of programFolders) args.push(...folderArguments(folder));
  args.push('--ro-bind', settings, '/etc', ...init);
  for (const path of findHidden(folderWithSecrets)) args.push(...hiddenArguments(path));
  for (const folder of programs) args.push('--ro-bind', folder, folder);
  if ([...programFolders, ...programs].some((folder) => stateDirectory.startsWith(`${folder}/`))) {
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
 * /etc/resolv.conf changes with the machine's network, and is often a link to a folder that is not visible inside.
 * @param file the file that replaces it; default: the machine's own
 */
export function resolverArguments(file?: string): string[] {
  try {
    const target = realpathSync('/etc/resolv.conf');
    return ['--ro-bind', file ?? target, target];
  } catch {
    return [];
  }
}
