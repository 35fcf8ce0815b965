/** Names a full disk. The error of the system does not say which file could not be written. */
import { SandflowError } from './sandflow-error.js';

/** No space or no inode is left on the disk, or the quota of the user is used up. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** True if the error, or a cause of it, is a full disk. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && (codes.has(error.code) || error.code === 'disk_full')) || isDiskFull(error.cause);
}

/** The error that names the file. */
export function diskFull(path: string, cause: unknown): SandflowError {
  const message = `The disk is full: ${path} cannot be written. Free some space there, then try again.`;
  return new SandflowError('disk_full', message, { cause });
}

/**
 * Makes a write, and replaces the error of a full disk. Any other error is thrown unchanged.
 * @param path the file that is written, for the message
 * @throws SandflowError `disk_full`
 */
export async function namingFullDisk<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isDiskFull(error) && !(error instanceof SandflowError) ? diskFull(path, error) : error;
  }
}
