/** A small file system of its own, filled to the last byte. Mounting it takes root. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Whether this user may mount a file system. */
export function mounts(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface FullFolder {
  readonly path: string;
  /** Frees what `fill` took. */
  free(): Promise<void>;
  /** Fills what is free. The folder begins full. */
  fill(): Promise<void>;
}

/** A folder on a full disk, until the end of the test. */
export async function fullFolder(): Promise<FullFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sandflow-full-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'none', path]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', path]));
  const filling = join(path, 'filling');
  const fill = () => writeFile(filling, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
  await fill();
  return { path, fill, free: () => rm(filling) };
}
