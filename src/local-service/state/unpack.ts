/** Unpacks an archive that is not trusted. The unpacking has limits, and ends when the service closes. */
import { spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { anySignal } from '../../os/any-signal.js';
import { programEnvironment } from '../machine/index.js';
import { ServiceError } from '../service-error.js';

/**
 * Limits for the unpacked content of an archive. An archive that exceeds a limit is refused, and its unpacked files are
 * removed.
 */
export interface ImportLimits {
  /**
   * The size of all files together, including the holes of sparse files. Default: 64 GiB; never more than the free
   * space less 512 MiB.
   */
  readonly maxBytes: number;
  /** The number of files, folders and links. Default: 2,000,000. */
  readonly maxEntries: number;
  /** The depth of nested folders. Default: 1,000. */
  readonly maxDepth: number;
  /**
   * The ratio of unpacked to packed size, checked once 256 MiB are unpacked. Default: 200; gzip reaches 1,030 with
   * zeros.
   */
  readonly maxRatio: number;
}

export const defaultImportLimits: ImportLimits = {
  maxBytes: 64 * 1024 ** 3,
  maxEntries: 2_000_000,
  maxDepth: 1_000,
  maxRatio: 200,
};

const ratioCountsFrom = 256 * 1024 ** 2;
const leftFree = 512 * 1024 ** 2;

export function badArchive(what: string, cause?: unknown): ServiceError {
  return new ServiceError(400, 'bad_archive', `The archive cannot be imported: ${what} Nothing was changed.`, {
    cause,
  });
}

/**
 * Unpacks with the system's `tar`. It writes no entry outside of the folder, even if its name leads there, and does not
 * write through links of the archive. `tar` prints each name before it creates the entry. These names are counted, so
 * the count covers exactly the entries that `tar` creates.
 * @throws ServiceError `bad_archive`
 */
export async function unpack(
  archive: Readable,
  folder: string,
  { limits, signal }: { readonly limits: ImportLimits; readonly signal: AbortSignal },
): Promise<void> {
  const maxBytes = Math.max(0, Math.min(limits.maxBytes, (await freeBytes(folder)) - leftFree));
  const stop = new AbortController();
  let refusal: ServiceError | undefined;
  const refuse = (what: string): void => {
    refusal ??= badArchive(what);
    stop.abort();
  };
  const either = anySignal([stop.signal, signal]);
  const child = spawn('tar', ['-x', '-v', '-p', '--no-same-owner', '-f', '-'], {
    cwd: folder,
    env: programEnvironment,
    stdio: ['pipe', 'pipe', 'ignore'],
    signal: either,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => (either.aborted ? resolve(null) : reject(error)));
    child.once('close', (exitCode) => {
      // `tar` has failed, so stop sending to it.
      if (exitCode !== 0) stop.abort();
      resolve(exitCode);
    });
  });
  const names = countNames(limits, refuse);
  child.stdout.on('data', names);
  const { packed, unpacked } = countBytes(maxBytes, limits.maxRatio, refuse);
  const sent = pipeline(archive, packed, createGunzip(), unpacked, feeding(child.stdin), { signal: either }).then(
    () => true,
    () => false,
  );
  const [exitCode, whole] = await Promise.all([ended, sent]);
  if (refusal) throw refusal;
  signal.throwIfAborted();
  if (exitCode !== 0 || !whole) throw badArchive('it is not a gzipped tar, or it is incomplete.');
}

/**
 * Feeds the archive to `tar`. `tar` may end before it has read the padding of the archive, or because its input is not
 * an archive. Its exit code shows which. The rest of the archive is read in any case, because only its end shows that
 * it arrived completely.
 */
function feeding(stdin: Writable): Writable {
  let next: (() => void) | undefined;
  const goOn = (): void => {
    next?.();
    next = undefined;
  };
  stdin.on('error', goOn).on('close', goOn).on('drain', goOn);
  return new Writable({
    write(chunk, _encoding, done) {
      if (stdin.destroyed || stdin.write(chunk)) return done();
      next = done;
    },
    final(done) {
      stdin.end();
      done();
    },
    destroy(error, done) {
      // Without an error, `stdin` stays open, because it may still write buffered data.
      if (error) stdin.destroy();
      done(error);
    },
  });
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function countBytes(maxBytes: number, maxRatio: number, refuse: (what: string) => void) {
  let before = 0;
  let after = 0;
  const packed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      before += chunk.length;
      done(null, chunk);
    },
  });
  const unpacked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      after += chunk.length;
      if (after > maxBytes)
        refuse(`it unpacks to more than ${maxBytes} bytes, which is the limit or the free space of this disk.`);
      if (after > ratioCountsFrom && after > before * maxRatio) {
        refuse(`it unpacks to more than ${maxRatio} times its size.`);
      }
      done(null, chunk);
    },
  });
  return { packed, unpacked };
}

/** Counts the names that `tar` prints: one a line, with a newline in a name written as `\n`. */
function countNames({ maxEntries, maxDepth }: ImportLimits, refuse: (what: string) => void): (chunk: Buffer) => void {
  const [newline, slash] = [0x0a, 0x2f];
  let entries = 0;
  let depth = 0;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === slash) depth += 1;
      if (depth > maxDepth) refuse(`its folders are nested more than ${maxDepth} levels deep.`);
      if (byte !== newline) continue;
      depth = 0;
      entries += 1;
      if (entries > maxEntries) refuse(`it contains more than ${maxEntries} entries.`);
    }
  };
}
