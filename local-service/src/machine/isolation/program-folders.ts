/** Checks the folders of programs that the settings show to sandboxes. */
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import { homeFolder } from '../../../../src/os/home-folder.js';
import { isBelow } from '../../../../src/os/is-below.js';
import type { MachineDirectories } from '../disk/directories.js';
import { sandboxHome } from '../disk/directories.js';
import { MachineError } from '../machine-error.js';

/** Folders that a sandbox has of its own. */
const ownFolders = ['/etc', '/dev', '/proc', '/sys', '/tmp', '/var/tmp', sandboxHome];

/**
 * @returns the folders, without a slash at the end
 * @throws MachineError `bad_programs` for a path that is not absolute, for what is no folder, and for a folder that holds
 *   the home of the user or the data of the service, lies in that data, or is one that a sandbox has of its own
 */
export function checkedProgramFolders(
  folders: readonly string[],
  { root }: Pick<MachineDirectories, 'root'>,
): string[] {
  return folders.map((given) => {
    const refuse = (problem: string) => new MachineError('bad_programs', `programs: ${given} ${problem}.`);
    if (!isAbsolute(given)) throw refuse('must be an absolute path. A ~ is not replaced');
    const folder = normalize(given).replace(/(.)\/+$/, '$1');
    if (!isFolder(folder)) throw refuse('is not a folder that this user can read');
    const real = realpathSync(folder);
    const holds = [homeFolder(), root].find((path) => isIn(realOf(path), real));
    if (holds !== undefined)
      throw refuse(`holds ${holds}, which sandboxes must not see. Name a folder of programs only`);
    // A sandbox could read the disks of the others there.
    if (isIn(real, realOf(root))) throw refuse(`lies in ${root}, the data of the service. Move the programs elsewhere`);
    if (ownFolders.some((own) => isIn(folder, own) || isIn(own, folder))) {
      throw refuse('is a folder that each sandbox has of its own, or holds one. Move the programs elsewhere');
    }
    return folder;
  });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** True if `path` is `folder`, or lies below it. */
function isIn(path: string, folder: string): boolean {
  return path === folder || isBelow(path, folder);
}
