/** Keeps a sandbox from filling the file system that all disks are on: the one that grows is ended before others have no room. */
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { MachineDirectories } from '../disk/directories.js';
import { runProgram } from '../shell/program.js';

const checkIntervalMs = 1_000;
const measureMs = 300;
const maxReserveBytes = 2 * 1024 ** 3;
/** Less than this is what any machine writes meanwhile. */
const growthBytes = 8 * 1024 ** 2;

export interface DiskGuardOptions {
  readonly directories: MachineDirectories;
  /** Ends the processes of a sandbox. */
  readonly end: (sandboxId: string) => Promise<void>;
  readonly log: (message: string) => void;
  /** What stays free. Default: 2 GiB, or half of what is free at the start where that is less. */
  readonly reserveBytes?: number;
}

export interface DiskGuard {
  /** Looks at the sandbox until `release`. @returns how large a file may grow, in bytes, and the release */
  watch(sandboxId: string): Promise<{ readonly fileBytes: number; release(): void }>;
}

export async function createDiskGuard(options: DiskGuardOptions): Promise<DiskGuard> {
  const { directories, end, log } = options;
  const freeAtStart = await freeBytes(directories.root);
  const reserve = options.reserveBytes ?? Math.min(maxReserveBytes, freeAtStart / 2);
  const watched = new Map<string, number>();
  let before = freeAtStart;
  let looking = false;

  const look = async (): Promise<void> => {
    const free = await freeBytes(directories.root);
    const shrinks = free < before - growthBytes;
    before = free;
    if (free >= reserve || !shrinks) return;
    const growing = await fastestGrowing(directories, [...watched.keys()]);
    if (growing === undefined) return;
    log(`Sandbox ${growing} fills the disk of this machine: its processes are ended.`);
    await end(growing);
  };

  /** At most one look at a time, for as long as something runs. */
  const lookOn = async (): Promise<void> => {
    while (watched.size > 0) {
      await delay(checkIntervalMs, undefined, { ref: false });
      // What cannot be looked at now is looked at again.
      await look().catch(() => undefined);
    }
    looking = false;
  };

  return {
    async watch(sandboxId) {
      const free = await freeBytes(directories.root);
      watched.set(sandboxId, (watched.get(sandboxId) ?? 0) + 1);
      if (!looking) {
        looking = true;
        void lookOn();
      }
      const release = (): void => {
        const left = (watched.get(sandboxId) ?? 1) - 1;
        if (left > 0) watched.set(sandboxId, left);
        else watched.delete(sandboxId);
      };
      return { fileBytes: Math.max(growthBytes, free - reserve), release };
    },
  };
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Undefined if none grows. */
async function fastestGrowing(directories: MachineDirectories, sandboxIds: readonly string[]) {
  const first = await sizes(directories, sandboxIds);
  await delay(measureMs);
  const second = await sizes(directories, sandboxIds);
  const growth = sandboxIds.map((id) => ({ id, bytes: (second.get(id) ?? 0) - (first.get(id) ?? 0) }));
  return growth.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes)[0]?.id;
}

async function sizes(directories: MachineDirectories, sandboxIds: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const id of sandboxIds) {
    const { stdout } = await runProgram('du', ['-sk', '--', directories.disk(id), directories.temporary(id)]);
    const kibibytes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
    found.set(id, 1024 * kibibytes.reduce((sum, one) => sum + one, 0));
  }
  return found;
}
