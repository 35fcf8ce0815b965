/** Writes a file so that no reader sees half of it. */
import { rename, rm } from 'node:fs/promises';
import { namingFullDisk } from '../errors/disk-full.js';

/** @param write writes the content to a new file, which then replaces `path` */
export async function replaceFile(path: string, write: (temporary: string) => Promise<unknown>): Promise<void> {
  const temporary = `${path}.${process.pid}.part`;
  try {
    await rm(temporary, { force: true });
    await namingFullDisk(path, async () => {
      await write(temporary);
      await rename(temporary, path);
    });
  } finally {
    await rm(temporary, { force: true });
  }
}
