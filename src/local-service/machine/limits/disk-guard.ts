/**
 * Keeps a sandbox from filling the file system of all disks: kills the growing sandbox while there is still space for
 * the others.
 */
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { MachineDirectories } from '../disk/directories.js';
import { type Growth, measureGrowth } from './disk-growth.js';

/** Short, because a sandbox can allocate gigabytes in a second. A check costs one system call. */
const checkIntervalMs = 100;
const maxReserveBytes = 2 * 1024 ** 3;
const maxReserveFiles = 500_000;
/**
 * If a sandbox has grown by less than this, it is not killed, because other programs of the machine write that much
 * too.
 */
const growthBytes = 8 * 1024 ** 2;
const growthFiles = 10_000;
/** When the reserve is first touched, growth counts from this long before. */
const recentMs = 10_000;

interface ReserveOptions {
  /** Free bytes to keep. Default: 2 GiB, or half of the free bytes at the start if that is less. */
  readonly reserveBytes?: number | undefined;
  /** Free inodes to keep. Default: 500,000, or half of the free inodes at the start if that is less. */
  readonly reserveFiles?: number | undefined;
}

interface DiskGuardOptions extends ReserveOptions {
  readonly directories: MachineDirectories;
  /** The sandboxes in which something runs, with the pids of their processes. The others do not grow. */
  readonly atWork: () => ReadonlyMap<string, readonly number[]>;
  /** Kills the processes of a sandbox. */
  readonly end: (sandboxId: string) => Promise<void>;
  readonly log: (message: string) => void;
}

/** The state of the measurements while the reserve is touched. */
interface Mark {
  /** Growth counts from this time on. */
  readonly atMs: number;
  /** The largest free space since `atMs`. */
  readonly free: Growth;
  /** The free space at the last measurement. */
  readonly measured: Growth;
}

export async function createDiskGuard(options: DiskGuardOptions) {
  const { directories, atWork, end, log } = options;
  const reserve = await diskReserve(directories.root, options);
  const limit: Growth = {
    bytes: Math.min(growthBytes, reserve.bytes / 4),
    files: Math.min(growthFiles, reserve.files / 4),
  };
  /** How often each running sandbox is watched. */
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
    log(`Sandbox ${growing} is filling the disk of this machine. Its processes are being killed.`);
    await end(growing);
    // Start a new measurement, so that data of this sandbox does not count as growth of another one.
    mark = markAt(await freeSpace(directories.root));
  };

  /** When the reserve is first touched, finds the sandbox that wrote the most in the last `recentMs`. */
  const growingNow = async (free: Growth): Promise<string | undefined> => {
    mark = markAt(free);
    const least: Growth = {
      bytes: free.bytes < reserve.bytes ? limit.bytes : Infinity,
      files: free.files < reserve.files ? limit.files : Infinity,
    };
    return await mostGrown(atWork(), mark.atMs - recentMs, least);
  };

  /**
   * Later, all growth since the mark counts, even if it is slow. It is measured each time that another `limit` is used
   * up.
   */
  const growingSince = async ({ atMs, ...before }: Mark, free: Growth): Promise<string | undefined> => {
    const [most, measured] = [larger(before.free, free), larger(before.measured, free)];
    const isDue = measured.bytes - free.bytes >= limit.bytes || measured.files - free.files >= limit.files;
    mark = { atMs, free: most, measured: isDue ? free : measured };
    if (!isDue) return undefined;
    const used: Growth = { bytes: most.bytes - free.bytes, files: most.files - free.files };
    const sandboxes = atWork();
    // Other programs write to the disk too. So a sandbox is killed only if it has written a large enough part of the
    // used space.
    const part = 2 * sandboxes.size;
    const least: Growth = {
      bytes: used.bytes >= limit.bytes ? used.bytes / part : Infinity,
      files: used.files >= limit.files ? used.files / part : Infinity,
    };
    return await mostGrown(sandboxes, atMs, least);
  };

  /** @returns the sandbox that grew most, or undefined if no sandbox has grown by `least` */
  const mostGrown = async (
    sandboxes: ReadonlyMap<string, readonly number[]>,
    sinceMs: number,
    least: Growth,
  ): Promise<string | undefined> => {
    const measured = await Promise.all(
      [...sandboxes].map(async ([sandboxId, pids]) => {
        const growth = await measureGrowth(directories, { sandboxId, sinceMs, pids });
        return { sandboxId, share: Math.max(growth.bytes / least.bytes, growth.files / least.files) };
      }),
    );
    const most = measured.sort((a, b) => b.share - a.share)[0];
    return most !== undefined && most.share >= 1 ? most.sandboxId : undefined;
  };

  /** Checks as long as a sandbox runs, one check after another. */
  const checkUntilIdle = async (): Promise<void> => {
    while (watched.size > 0) {
      await delay(checkIntervalMs, undefined, { ref: false });
      // If a check fails, the next check follows soon.
      await check().catch(() => undefined);
    }
    checking = false;
  };

  return {
    /**
     * Watches the sandbox until `release` is called.
     * @returns `fileBytes`, which says how large a file may grow now, in bytes, and `release`
     */
    watch(sandboxId: string) {
      watched.set(sandboxId, (watched.get(sandboxId) ?? 0) + 1);
      if (!checking) {
        checking = true;
        void checkUntilIdle();
      }
      return {
        async fileBytes() {
          const free = await freeSpace(directories.root);
          return Math.max(growthBytes, free.bytes - reserve.bytes);
        },
        release() {
          const left = (watched.get(sandboxId) ?? 1) - 1;
          if (left > 0) watched.set(sandboxId, left);
          else watched.delete(sandboxId);
        },
      };
    },
  };
}

/** What is to be kept free on the file system of `path`. */
export async function diskReserve(path: string, { reserveBytes, reserveFiles }: ReserveOptions): Promise<Growth> {
  const atStart = await freeSpace(path);
  return {
    bytes: reserveBytes ?? Math.min(maxReserveBytes, atStart.bytes / 2),
    files: reserveFiles ?? Math.min(maxReserveFiles, atStart.files / 2),
  };
}

export async function hasMoreThan(reserve: Growth, path: string): Promise<boolean> {
  const free = await freeSpace(path);
  return free.bytes >= reserve.bytes && free.files >= reserve.files;
}

/** A file system that allocates inodes as needed reports 0 inodes. */
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
