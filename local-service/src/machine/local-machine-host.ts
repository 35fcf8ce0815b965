/** Creates a machine host from its parts. */
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { machineTypes } from '../../../src/contract/workflow-safe/machine-types.js';
import { isFolder } from '../../../src/os/make-folders.js';
import { createDesktops } from './desktop/desktops.js';
import { findDesktop } from './desktop/find-desktop.js';
import { cloneRepository } from './disk/clone-repository.js';
import { discardTree, removeTree, replaceByCopy, replaceTree } from './disk/copy-tree.js';
import { createMachineDirectories, type MachineDirectories } from './disk/directories.js';
import { createDownloads } from './disk/download.js';
import { readDiskFile, removeDiskFile, writeDiskFile } from './disk/files.js';
import { createRestores, type Restore } from './disk/restores.js';
import { isSameTree } from './disk/same-tree.js';
import { removeFromSharedTemporary } from './disk/shared-temporary.js';
import { listTree } from './disk/snapshot-tree.js';
import { chooseIsolation, type IsolationOptions, isolationWarnings } from './isolation/choose-isolation.js';
import type { CommandSpec } from './isolation/launch.js';
import { createDiskReserve } from './limits/disk-reserve.js';
import type { MachineSize } from './limits/machine-size.js';
import { lowLimits } from './limits/process-limits.js';
import { MachineError } from './machine-error.js';
import type { MachineHost } from './machine-host.js';
import { createProcessGroups } from './processes/groups.js';
import { defaultProgramPath } from './program.js';
import { createMachines } from './running/machines.js';
import { openInteractiveShell } from './shell/interactive-shell.js';
import { createPlainShells } from './shell/plain-shells.js';
import { runCommand } from './shell/run-command.js';

interface MachineHostOptions extends IsolationOptions {
  /** Holds disks, snapshots and the records of processes. Created if it is missing. One host at a time may use it. */
  readonly directory: string;
  /** The machine size of a sandbox. Default: the size of the type `default`. */
  readonly sizeOf?: (sandboxId: string) => MachineSize;
  /** Free bytes to keep on the file system. Default: 2 GiB, or half of the free bytes at the start if that is less. */
  readonly diskReserveBytes?: number;
  /**
   * Free inodes to keep on the file system. Default: 500,000, or half of the free inodes at the start if that is less.
   */
  readonly diskReserveFiles?: number;
  /**
   * Receives warnings: first about missing isolation or network that nobody requested, later about problems in
   * operation.
   */
  readonly log?: (message: string) => void;
}

/** A snapshot of a disk has its mode. */
const diskMode = 0o755;

/**
 * Creates the machine host of the local service. Call `recover` before anything else.
 * @throws MachineError `isolation_unavailable` if bubblewrap was requested and does not work
 */
export async function createMachineHost(options: MachineHostOptions): Promise<MachineHost> {
  const directories = await createMachineDirectories(options.directory);
  const { launch, networks, description } = await chooseIsolation(directories, options);
  for (const warning of isolationWarnings(description)) options.log?.(warning);
  const groups = createProcessGroups(directories);
  const downloads = createDownloads();
  const { unfinished, root } = directories;
  const { diskReserveBytes: bytes, diskReserveFiles: files } = options;
  const reserve = await createDiskReserve(root, { bytes, files });
  const hasSpace = async (): Promise<boolean> => !reserve.isTouched(await reserve.free());
  // Without isolation, nothing is protected from the sandbox.
  const copyCall = launch.isolation === 'plain' ? undefined : launch.copyCall;
  let closed = false;

  const { sizeOf = () => machineTypes.default, log = () => undefined } = options;
  const shells =
    launch.isolation === 'plain'
      ? createPlainShells(launch, directories, groups)
      : await createMachines({ directories, launch, networks, groups, sizeOf, log, reserve });
  const desktop = await findDesktop({
    programPath: options.programPath ?? defaultProgramPath,
    hasOwnNetwork: networks.areOwn,
  });
  const desktops = createDesktops(shells);
  const withDisplay = <Spec extends Pick<CommandSpec, 'env'>>(sandboxId: string, spec: Spec): Spec => ({
    ...spec,
    env: { ...desktops.variables(sandboxId), ...spec.env },
  });
  const restores = createRestores(unfinished);
  /** The disk of a sandbox, for what may change it or needs all of it. Waits while the disk is being restored. */
  const requireDisk = async (sandboxId: string, signal?: AbortSignal): Promise<string> => {
    const disk = directories.disk(sandboxId);
    await restores.wait(disk, signal);
    if (signal?.aborted || (await isFolder(disk))) return disk;
    throw new MachineError('no_disk', `Sandbox ${sandboxId} has no disk on this machine.`);
  };
  /** Reads what a sandbox has on its disk, without waiting for a restore. */
  const reading = async <Result>(sandboxId: string, read: (root: string) => Promise<Result>): Promise<Result> =>
    await (restores.reading(directories.disk(sandboxId), read) ?? read(await requireDisk(sandboxId)));
  const requireReady = async (sandboxId: string, signal?: AbortSignal): Promise<void> => {
    await requireDisk(sandboxId, signal);
    if (closed) throw new MachineError('closed', 'The service is shutting down and starts no more commands.');
  };
  const endProcesses = async (sandboxId: string): Promise<void> => {
    restores.refuseWaiting(directories.disk(sandboxId));
    await shells.endAll(sandboxId);
  };
  const beginRestore = (snapshot: string, disk: string): Restore => {
    if (closed) throw new MachineError('closed', 'The service is shutting down and restores no more disks.');
    return restores.begin(snapshot, disk);
  };
  const endRestore = async (sandboxId?: string): Promise<void> =>
    await restores.end(sandboxId === undefined ? undefined : directories.disk(sandboxId));
  const deleteDisk = async (sandboxId: string): Promise<void> => {
    await endRestore(sandboxId);
    await endProcesses(sandboxId);
    await discardTree(directories.disk(sandboxId), unfinished);
    await discardTree(directories.temporary(sandboxId), unfinished);
    if (launch.isolation === 'plain') await removeFromSharedTemporary(sandboxId);
  };

  return {
    desktop,
    description: {
      ...description,
      limits: shells.limits,
      lacks: [...description.lacks, ...shells.lacks, ...lowLimits()],
    },
    async createDisk(sandboxId) {
      await mkdir(directories.disk(sandboxId), { recursive: true, mode: diskMode });
    },
    async restoreDisk(sandboxId, snapshotId) {
      const snapshot = await requireSnapshot(directories, snapshotId);
      await deleteDisk(sandboxId);
      return beginRestore(snapshot, directories.disk(sandboxId));
    },
    async continueRestore(sandboxId, snapshotId) {
      const disk = directories.disk(sandboxId);
      const running = restores.running(disk);
      if (running) return running;
      if (await isFolder(disk)) return { ended: Promise.resolve(true) };
      return beginRestore(await requireSnapshot(directories, snapshotId), disk);
    },
    endRestore,
    endProcesses,
    async takeSnapshot(sandboxId, snapshotId) {
      const snapshot = directories.snapshot(snapshotId);
      const disk = await requireDisk(sandboxId);
      return { sizeBytes: await replaceByCopy(disk, snapshot, unfinished, { copyCall }) };
    },
    async createSnapshot(snapshotId, files) {
      const sizeBytes = await replaceTree(directories.snapshot(snapshotId), unfinished, async (folder) => {
        await chmod(folder, diskMode);
        for (const [path, content] of files) await writeDiskFile(folder, path, content);
      });
      return { sizeBytes };
    },
    isSameSnapshot: async (snapshotId, otherId) =>
      await isSameTree(await requireSnapshot(directories, snapshotId), await requireSnapshot(directories, otherId)),
    async deleteSnapshot(snapshotId) {
      const snapshot = directories.snapshot(snapshotId);
      await restores.unused(snapshot);
      await discardTree(snapshot, unfinished);
    },
    deleteDisk,
    async run(sandboxId, spec, watch) {
      await requireReady(sandboxId, watch?.signal);
      return await runCommand(shells, sandboxId, withDisplay(sandboxId, spec), watch);
    },
    async openShell(sandboxId, spec) {
      await requireReady(sandboxId);
      return await openInteractiveShell(shells, sandboxId, withDisplay(sandboxId, spec));
    },
    async connect(sandboxId, port) {
      await requireReady(sandboxId);
      return await shells.connect(sandboxId, port);
    },
    async openDesktop(sandboxId, isPublic) {
      await requireReady(sandboxId);
      await desktops.open(sandboxId, isPublic);
    },
    desktopOf: desktops.running,
    readFile: async (sandboxId, path, maxBytes) =>
      await reading(sandboxId, (root) => readDiskFile(root, path, maxBytes)),
    writeFile: async (sandboxId, path, content, options) =>
      await writeDiskFile(await requireDisk(sandboxId), path, content, options),
    removeFile: async (sandboxId, path) => await removeDiskFile(await requireDisk(sandboxId), path),
    async cloneRepository(sandboxId, source, signal) {
      const disk = await requireDisk(sandboxId);
      await cloneRepository(source, { folder: join(disk, source.folder), unfinished, hasSpace, signal });
    },
    async download(source, path = '') {
      if ('snapshotId' in source) {
        const root = await requireSnapshot(directories, source.snapshotId);
        return await downloads.open({ root, path, mayChange: false });
      }
      const disk = directories.disk(source.sandboxId);
      return await reading(source.sandboxId, (root) => downloads.open({ root, path, mayChange: root === disk }));
    },
    tree: async (snapshotId, path = '') => await listTree(await requireSnapshot(directories, snapshotId), path),
    // Nothing can run while the disk is being restored.
    processes: async (sandboxId) => await reading(sandboxId, () => shells.list(sandboxId)),
    async recover() {
      await shells.recover();
      for (const name of await readdir(unfinished)) await removeTree(join(unfinished, name));
    },
    async close() {
      closed = true;
      await endRestore();
      await downloads.close();
      await shells.endAll();
    },
  };
}

async function requireSnapshot(directories: MachineDirectories, snapshotId: string): Promise<string> {
  const snapshot = directories.snapshot(snapshotId);
  if (await isFolder(snapshot)) return snapshot;
  throw new MachineError('no_snapshot', `The snapshot ${snapshotId} does not exist on this machine.`);
}
