/** A log file of limited size. At the limit it is renamed to `<file>.1`, which replaces the previous `<file>.1`. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFoldersSync } from './make-folders.js';

const defaultMaxBytes = 5 * 1024 * 1024;
const tailCharacters = 4000;

export type RotatingLog = ReturnType<typeof openRotatingLog>;

/**
 * Opens the log for appending, mode 600, and creates its directory. `maxBytes` is the size at which the log rotates;
 * default: 5 MiB. If the disk is full, lines are dropped and the caller gets no error.
 */
export function openRotatingLog(path: string, { maxBytes = defaultMaxBytes }: { readonly maxBytes?: number } = {}) {
  makeFoldersSync(dirname(path), { mode: 0o700 });
  let file: number | undefined = openSync(path, 'a', 0o600);
  let size = fstatSync(file).size;
  let tail = '';

  const rotate = () => {
    if (file !== undefined) closeSync(file);
    renameSync(path, `${path}.1`);
    file = openSync(path, 'a', 0o600);
    size = 0;
  };

  return {
    path,
    write(chunk: string | Uint8Array): void {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      tail = (tail + Buffer.from(bytes).toString('utf8')).slice(-tailCharacters);
      if (file === undefined) return;
      try {
        if (size > 0 && size + bytes.length > maxBytes) rotate();
        size += writeSync(file, bytes);
      } catch (error) {
        if (!(error instanceof Error && 'syscall' in error)) throw error;
      }
    },
    /** The end of the text that this process has written, for error messages. */
    tail: () => tail,
    /** Closes the log. Repeating it changes nothing; later writes are dropped. */
    close(): void {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
