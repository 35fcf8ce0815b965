/** Reads and writes single files of a disk. */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { MachineError } from '../machine-error.js';
import { openOnDisk, removeOnDisk } from './walk.js';

/** @throws MachineError as `MachineHost.readFile` */
export async function readDiskFile(disk: string, path: string, maxBytes: number): Promise<Buffer> {
  const file = await openOnDisk(disk, path, constants.O_RDONLY);
  try {
    const { size } = await requireFile(file, path);
    if (size > maxBytes) throw tooLarge(path, maxBytes);
    const chunks: Buffer[] = [];
    // The file may grow while it is read, so the limit is checked again.
    for (let bytes = 0; ; ) {
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(Math.min(Math.max(size - bytes, 0) + 4096, 1 << 20)),
      );
      if (bytesRead === 0) return Buffer.concat(chunks);
      bytes += bytesRead;
      if (bytes > maxBytes) throw tooLarge(path, maxBytes);
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

export interface WriteOptions {
  /** Permissions of the file, such as 0o600. By default an existing file keeps its permissions. */
  readonly mode?: number;
  /** Throws `not_found` if the path contains a link. Default: links within the disk are followed. */
  readonly refuseLinks?: boolean;
}

/** @throws MachineError as `MachineHost.writeFile` */
export async function writeDiskFile(
  disk: string,
  path: string,
  content: Buffer,
  { mode, refuseLinks = false }: WriteOptions = {},
): Promise<void> {
  const file = await openOnDisk(disk, path, constants.O_WRONLY | constants.O_CREAT, { makeFolders: true, refuseLinks });
  try {
    await requireFile(file, path);
    await file.truncate(0);
    // Set the mode before the content, so that nobody can open the file in between.
    if (mode !== undefined) await file.chmod(mode);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** @throws MachineError as `MachineHost.removeFile` */
export async function removeDiskFile(disk: string, path: string): Promise<void> {
  try {
    await removeOnDisk(disk, path);
  } catch (cause) {
    if (!(cause instanceof MachineError && cause.code === 'not_found')) throw cause;
  }
}

async function requireFile(file: FileHandle, path: string): Promise<{ size: number }> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new MachineError('not_a_file', `${path} is not a file.`);
  return stats;
}

function tooLarge(path: string, maxBytes: number): MachineError {
  return new MachineError('too_large', `${path} is larger than ${maxBytes} bytes.`);
}
