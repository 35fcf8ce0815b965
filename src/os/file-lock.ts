/**
 * Locks a path. The operating system releases the lock when the process that holds it ends, even after a crash. Node
 * has no such lock of its own. An exclusive SQLite transaction on an otherwise empty file is such a lock on every
 * platform.
 */
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { SandflowError } from '../errors/sandflow-error.js';
import { makeFoldersSync } from './make-folders.js';

const pollMs = 100;

export type FileLock = NonNullable<ReturnType<typeof tryAcquireFileLock>>;

/**
 * Takes the lock on `path` if it is free; creates the file and its directory.
 * @returns the lock; undefined if this process or another holds it
 * @throws SandflowError `file_not_writable`
 */
export function tryAcquireFileLock(path: string) {
  let database: Database.Database;
  try {
    makeFoldersSync(dirname(path), { mode: 0o700 });
    database = new Database(path, { timeout: 0 });
  } catch (cause) {
    throw notWritable(path, cause);
  }
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw notWritable(path, error);
  }
  return {
    /**
     * Releases the lock. Repeating it changes nothing. The file is not deleted: one process could hold the lock on the
     * deleted file, and another on a new one.
     */
    release: () => void (database.open && database.close()),
  };
}

/**
 * Takes the lock on `path`, waiting for its holder.
 * @param options.onWait called once, if the lock is already held
 * @param options.signal ends the wait
 * @throws SandflowError `file_not_writable`; the reason of the signal
 */
export async function acquireFileLock(
  path: string,
  { onWait, signal }: { readonly onWait?: () => void; readonly signal?: AbortSignal } = {},
): Promise<FileLock> {
  let waited = false;
  for (;;) {
    const lock = tryAcquireFileLock(path);
    if (lock) return lock;
    if (!waited) onWait?.();
    waited = true;
    await sleep(pollMs, undefined, { signal });
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

function notWritable(path: string, cause: unknown): SandflowError {
  const mend = 'check the owner and mode of its directory, and that its disk has room.';
  return new SandflowError('file_not_writable', `${path} cannot be written: ${mend}`, { cause });
}
