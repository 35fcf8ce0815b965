/** Keeps a sandbox from filling the file system that all disks are on: the one that grows is ended before others have no room. */
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { MachineDirectories } from '../disk/directories.js';
import { type Growth, measureGrowth } from './disk-growth.js';

/** A check costs one system call. A sandbox can allocate gigabytes in a second. */
const checkIntervalMs = 100;
const maxReserveBytes = 2 * 1024 ** 3;
const maxReserveFiles = 500_000;
/** Less than this is what any machine writes meanwhile. */
const growthBytes = 8 * 1024 ** 2;
const growthFiles = 10_000;
/** How long ago "of late" began. */
const recentMs = 10_000;

export interface DiskGuardOptions {
  readonly directories: MachineDirectories;
  /** The running processes of a sandbox. */
  readonly pidsOf: (sandboxId: string) => readonly number[];
  /** Kills the processes of a sandbox. */
  readonly end: (sandboxId: string) => Promise<void>;
  readonly log: (message: string) => void;
  /** What stays free. Default: 2 GiB, or half of what is free at the start if that is less. */
  readonly reserveBytes?: number;
  /** Free inodes that stay. Default: 500,000, or half of those at the start if that is less. */
  readonly reserveFiles?: number;
}

export interface DiskGuard {
  /** Watches the sandbox until `release`. @returns how large a file may grow, in bytes, and the release */
  watch(sandboxId: string): Promise<{ readonly fileBytes: number; release(): void }>;
}

/** From when growth counts while the reserve is touched. */
interface Mark {
  readonly atMs: number;
  /** The most that was free since then. */
  readonly free: Growth;
  /** What was free at the last measurement. */
  readonly measured: Growth;
}

export async function createDiskGuard(options: DiskGuardOptions): Promise<DiskGuard> {
  const { directories, pidsOf, end, log } = options;
  const atStart = await freeSpace(directories.root);
  const reserve: Growth = {
    bytes: options.reserveBytes ?? Math.min(maxReserveBytes, atStart.bytes / 2),
    files: options.reserveFiles ?? Math.min(maxReserveFiles, atStart.files / 2),
  };
  const limit: Growth = {
    bytes: Math.min(growthBytes, reserve.bytes / 4),
    files: Math.min(growthFiles, reserve.files / 4),
  };
  /** How many commands of a sandbox run. */
  const watched = new Map<string, number>();
  /** Undefined while the reserve is untouched. */
  let mark: Mark | undefined;
  let checking = false;

  const check = async (): Promise<void> => {
    const free = await freeSpace(directories.root);
    if (free.bytes >= reserve.bytes && free.files >= reserve.files) {
      mark = undefined;
      return;
    }
    const growing = mark ? await growingSince(mark, free) : await growingNow(free);
    if (growing === undefined) return;
    log(`Sandbox ${growing} fills the disk of this machine: its processes are ended.`);
    await end(growing);
    // What it wrote until it ended is not the growth of another sandbox.
    mark = markAt(await freeSpace(directories.root));
  };

  /** When the reserve is touched first: who wrote most of late. */
  const growingNow = async (free: Growth): Promise<string | undefined> => {
    mark = markAt(free);
    return await mostGrown(mark.atMs - recentMs, {
      bytes: free.bytes < reserve.bytes ? limit.bytes : Infinity,
      files: free.files < reserve.files ? limit.files : Infinity,
    });
  };

  /** Later all growth counts, however slow. It is measured again whenever as much is used up. */
  const growingSince = async ({ atMs, ...before }: Mark, free: Growth): Promise<string | undefined> => {
    const [most, measured] = [larger(before.free, free), larger(before.measured, free)];
    const isDue = measured.bytes - free.bytes >= limit.bytes || measured.files - free.files >= limit.files;
    mark = { atMs, free: most, measured: isDue ? free : measured };
    if (!isDue) return undefined;
    // Others write to the machine too: one sandbox is ended only for its part of what was used up.
    const part = 2 * watched.size;
    const used: Growth = { bytes: most.bytes - free.bytes, files: most.files - free.files };
    return await mostGrown(atMs, {
      bytes: used.bytes >= limit.bytes ? used.bytes / part : Infinity,
      files: used.files >= limit.files ? used.files / part : Infinity,
    });
  };

  /** @returns undefined if none has grown by `least` */
  const mostGrown = async (fromMs: number, least: Growth): Promise<string | undefined> => {
    const measured = await Promise.all(
      [...watched.keys()].map(async (sandboxId) => {
        const growth = await measureGrowth(directories, { sandboxId, sinceMs: fromMs, pids: pidsOf(sandboxId) });
        return { sandboxId, share: Math.max(growth.bytes / least.bytes, growth.files / least.files) };
      }),
    );
    const most = measured.sort((a, b) => b.share - a.share)[0];
    return most !== undefined && most.share >= 1 ? most.sandboxId : undefined;
  };

  /** At most one check at a time, while something runs. */
  const checkUntilIdle = async (): Promise<void> => {
    while (watched.size > 0) {
      await delay(checkIntervalMs, undefined, { ref: false });
      // A check that fails is repeated.
      await check().catch(() => undefined);
    }
    checking = false;
  };

  return {
    async watch(sandboxId) {
      const free = await freeSpace(directories.root);
      watched.set(sandboxId, (watched.get(sandboxId) ?? 0) + 1);
      if (!checking) {
        checking = true;
        void checkUntilIdle();
      }
      const release = (): void => {
        const left = (watched.get(sandboxId) ?? 1) - 1;
        if (left > 0) watched.set(sandboxId, left);
        else watched.delete(sandboxId);
      };
      return { fileBytes: Math.max(growthBytes, free.bytes - reserve.bytes), release };
    },
  };
}

/** A file system that allocates inodes as needed reports none. */
async function freeSpace(path: string): Promise<Growth> {
  const { bavail, bsize, files, ffree } = await statfs(path);
  return { bytes: bavail * bsize, files: files === 0 ? Number.MAX_SAFE_INTEGER : ffree };
}

function markAt(free: Growth): Mark {
  return { atMs: Date.now(), free, measured: free };
}

function larger(one: Growth, other: Growth): Growth {
  return { bytes: Math.max(one.bytes, other.bytes), files: Math.max(one.files, other.files) };
}
