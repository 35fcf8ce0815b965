/** A log file that cannot fill the disk: past a size it becomes `<file>.1`, and what was `<file>.1` goes. */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const defaultMaxBytes = 5 * 1024 * 1024;
const tailCharacters = 4000;

export interface RotatingLog {
  readonly path: string;
  write(chunk: string | Uint8Array): void;
  /** The end of what was written by this process, for error messages. */
  tail(): string;
  /** Repeating it changes nothing; writes after it are dropped. */
  close(): void;
}

/**
 * Opens the log for appending, mode 600; makes its directory. `maxBytes` is the size at which it rotates (5 MiB).
 * A full disk drops lines and never fails the caller.
 */
export function openRotatingLog(path: string, options: { readonly maxBytes?: number } = {}): RotatingLog {
  const { maxBytes = defaultMaxBytes } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
    write(chunk) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      tail = (tail + Buffer.from(bytes).toString('utf8')).slice(-tailCharacters);
      if (file === undefined) return;
      try {
        if (size > 0 && size + bytes.length > maxBytes) rotate();
        size += writeSync(file, bytes);
      } catch (error) {
        if (!isSystemError(error)) throw error;
      }
    },
    tail: () => tail,
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
