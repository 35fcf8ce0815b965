/** The directories in which the machines of one host are stored. Only this file knows the layout. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../../../src/os/make-folders.js';
import { MachineError } from '../machine-error.js';

/** The home of the user inside a sandbox. The sandbox sees its disk at this path. */
export const sandboxHome = '/home/sandbox';

export interface MachineDirectories {
  readonly root: string;
  readonly disks: string;
  /** Files that are being copied or removed. After a crash, nothing in it is needed. */
  readonly unfinished: string;
  /** One file for each process group that was started and may still live. */
  readonly processes: string;
  disk(sandboxId: string): string;
  /** An isolated sandbox sees it as /tmp. */
  temporary(sandboxId: string): string;
  snapshot(snapshotId: string): string;
}

/** Creates the directories. Only their owner may enter them. Safe to repeat. */
export async function createMachineDirectories(directory: string): Promise<MachineDirectories> {
  await makeFolders(directory, { mode: 0o700 });
  // Processes are recognised by the path of their home, so that path must have one spelling.
  const root = await realpath(directory);
  const [disks, snapshots, temporary] = [join(root, 'disks'), join(root, 'snapshots'), join(root, 'temporary')];
  const [unfinished, processes] = [join(root, 'unfinished'), join(root, 'processes')];
  for (const path of [disks, snapshots, temporary, unfinished, processes]) {
    await makeFolders(path, { mode: 0o700 });
  }
  return {
    root,
    disks,
    unfinished,
    processes,
    disk: (sandboxId) => join(disks, directoryName(sandboxId)),
    temporary: (sandboxId) => join(temporary, directoryName(sandboxId)),
    snapshot: (snapshotId) => join(snapshots, directoryName(snapshotId)),
  };
}

function directoryName(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(id)) {
    throw new MachineError(
      'bad_id',
      `${JSON.stringify(id)} is not a valid id. An id contains only letters, digits, "_" and "-".`,
    );
  }
  return id;
}
