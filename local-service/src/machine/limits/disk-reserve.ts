/** The space on the file system of all disks that nothing of a sandbox may use up. */
import { statfs } from 'node:fs/promises';
import type { Growth } from './disk-growth.js';

const maxReserveBytes = 2 * 1024 ** 3;
const maxReserveFiles = 500_000;

interface ReserveOptions {
  /** Free bytes to keep. Default: 2 GiB, or half of the free bytes at the start if that is less. */
  readonly bytes?: number | undefined;
  /** Free inodes to keep. Default: 500,000, or half of the free inodes at the start if that is less. */
  readonly files?: number | undefined;
}

/** Its `bytes` and `files` are to be kept free. */
export interface DiskReserve extends Growth {
  free(): Promise<Growth>;
  isTouched(free: Growth): boolean;
}

/** @param path on the file system */
export async function createDiskReserve(path: string, options: ReserveOptions): Promise<DiskReserve> {
  const atStart = await freeSpace(path);
  const bytes = options.bytes ?? Math.min(maxReserveBytes, atStart.bytes / 2);
  const files = options.files ?? Math.min(maxReserveFiles, atStart.files / 2);
  return {
    bytes,
    files,
    free: () => freeSpace(path),
    isTouched: (free) => free.bytes < bytes || free.files < files,
  };
}

/** A file system that allocates inodes as needed reports 0 inodes. */
async function freeSpace(path: string): Promise<Growth> {
  const { bavail, bsize, files, ffree } = await statfs(path);
  return { bytes: bavail * bsize, files: files === 0 ? Number.MAX_SAFE_INTEGER : ffree };
}
