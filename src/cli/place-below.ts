/**
 * Names the local place of a file of a sandbox. Results are not trusted, because anyone who can write to Temporal can
 * store a result. No path leads outside the folder. A forged result wrote files anywhere.
 */
import { join, posix } from 'node:path';

/** The path of a collected file below a folder on this machine. */
export function placeBelow(folder: string, remotePath: string): string {
  return join(folder, pathInside(remotePath));
}

/** A relative path that leads out of no folder. */
export function pathInside(remotePath: string): string {
  // A normalized absolute path cannot lead above its root.
  const inside = posix.normalize(`/${remotePath.replaceAll('\0', '')}`).slice(1);
  return inside.replace(/\/$/, '') || 'file';
}
