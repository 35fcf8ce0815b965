/** Copies all disks and snapshots to a folder, or replaces them with those of a folder. */
import { chmod, lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { type CopyCall, copyInto, discardTree } from './copy-tree.js';
import { createMachineDirectories, isMachineId, type MachineDirectories } from './directories.js';
import { hasCode } from './file-error.js';

const kept = ['disks', 'snapshots'] as const;

/**
 * Creates `target` and copies all disks and snapshots into it. The copies share blocks if the file system supports it.
 * A disk may be in use, so each disk is copied separately, in the same way as for a snapshot. Nobody may add or remove
 * a disk meanwhile.
 * @throws MachineError `copy_failed`
 */
export async function copyMachines({ root }: MachineDirectories, target: string, copyCall?: CopyCall): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  for (const name of kept) {
    const [from, to] = [join(root, name), join(target, name)];
    await mkdir(to, { mode: 0o700 });
    for (const id of await readdir(from)) {
      await mkdir(join(to, id), { mode: 0o700 });
      await copyInto(join(from, id), join(to, id), copyCall);
    }
  }
}

/**
 * Replaces all disks and snapshots by moving those of `source`. No process may run on the machines. After a crash,
 * another call continues where the first stopped. So it is safe to repeat until one call has succeeded.
 */
export async function replaceMachines(directory: string, source: string): Promise<void> {
  const { root, unfinished } = await createMachineDirectories(directory);
  for (const name of kept) {
    const [from, to] = [join(source, name), join(root, name)];
    if (!(await isFolder(from))) continue;
    await discardTree(to, unfinished);
    // The creator of the archive chose the folder's mode, so it is set here.
    await chmod(from, 0o700);
    await rename(from, to);
  }
  // Remove the /tmp folders, which belong to disks that no longer exist.
  await discardTree(join(root, 'temporary'), unfinished);
  await createMachineDirectories(directory);
}

/**
 * The ids of the disks and snapshots in a folder that `copyMachines` has created.
 * @throws MachineError `bad_archive` if the folder holds anything else, such as a link instead of a folder
 */
export async function listMachines(source: string): Promise<Record<(typeof kept)[number], ReadonlySet<string>>> {
  const strange = (path: string): MachineError =>
    new MachineError('bad_archive', `The archive contains ${path}, which is not part of an exported state.`);
  const found = { disks: new Set<string>(), snapshots: new Set<string>() };
  for (const name of await readdir(source))
    if (name !== 'disks' && name !== 'snapshots') throw strange(`machines/${name}`);
  for (const name of kept) {
    if (!(await isFolder(join(source, name)))) throw strange(`no folder machines/${name}`);
    for (const id of await readdir(join(source, name))) {
      const path = `machines/${name}/${id}`;
      if (!isMachineId(id) || !(await isFolder(join(source, name, id)))) throw strange(path);
      found[name].add(id);
    }
  }
  return found;
}

/** False for a link to a folder. */
async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
