/**
 * Keeps a sandbox from filling the file system of all disks: kills the growing sandbox while there is still space for
 * the others.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { MachineDirectories } from '../disk/directories.js';
import { type Growth, measureGrowth } from './disk-growth.js';
import type { DiskReserve } from './disk-reserve.js';

/** Short, because a sandbox can allocate gigabytes in a second. A check costs one system call. */
const checkIntervalMs = 100;
/**
 * If a sandbox has grown by less than this, it is not killed, because other programs of the machine write that much
 * too.
 */
const growthBytes = 8 * 1024 ** 2;
const growthFiles = 10_000;
/** When the reserve is first touched, growth counts from this long before. */
const recentMs = 10_000;

interface DiskGuardOptions {
  readonly reserve: DiskReserve;
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

export function createDiskGuard({ directories, reserve, atWork, end, log }: DiskGuardOptions) {
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
    const free = await reserve.free();
    if (!reserve.isTouched(free)) {
      mark = undefined;
      return;
    }
    const growing = mark ? await growingSince(mark, free) : await growingNow(free);
    if (growing === undefined) return;
    log(`Sandbox ${growing} is filling the disk of this machine. Its processes are being killed.`);
    await end(growing);
    // Start a new measurement, so that data of this sandbox does not count as growth of another one.
    mark = markAt(await reserve.free());
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
          const free = await reserve.free();
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

function markAt(free: Growth): Mark {
  return { atMs: Date.now(), free, measured: free };
}

function larger(one: Growth, other: Growth): Growth {
  return { bytes: Math.max(one.bytes, other.bytes), files: Math.max(one.files, other.files) };
}
