/**
 * Unpacks a collected folder. Its archive comes from a sandbox, whose agent may have written it, so nothing in it is
 * trusted. It is unpacked beside its place and renamed once it is whole: no file outside is touched, and no reader sees
 * half a folder.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { type ReadEntry, Unpack } from 'tar';
import { namingFullDisk } from '../../errors/disk-full.js';
import { maxUnpackedBytes, maxUnpackedEntries } from '../../protocol/limits.js';
import type { ResultStore } from '../../result-store/index.js';
import { cut } from '../../texts/length.js';
import { isInnerLink } from './inner-link.js';
import { listFolder, packFolder } from './pack-folder.js';

/** What Linux takes as a path. */
const maxPathBytes = 4_096;

/** Codes of an archive that ended early. */
const cutCodes: ReadonlySet<unknown> = new Set(['TAR_BAD_ARCHIVE', 'Z_BUF_ERROR']);

export interface UnpackOptions {
  /** In hex; null if unknown. */
  readonly sha256: string | null;
  /**
   * True if the folder takes the place of another one, such as that of an earlier download. Otherwise the place must be
   * free, be an empty folder, or have the same content already.
   */
  readonly replaces: boolean;
  /** The end of the message if the place is taken. */
  readonly taken: string;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/**
 * @param archive a gzipped tar with names relative to the folder
 * @param place of the folder; the folder above it must exist
 * @returns a sentence about what was left out: links that lead out of the folder, names with a backslash, and what is
 *   neither a file, a folder nor a link; null for nothing
 * @throws Error if the archive is not whole, has names that lead out or are too long, is too large, or if the place is taken
 */
export async function unpackFolder(
  archive: AsyncIterable<Uint8Array>,
  place: string,
  options: UnpackOptions,
): Promise<string | null> {
  const temporary = `${place}.${randomUUID().slice(0, 8)}.part`;
  try {
    return await namingFullDisk(place, async () => {
      await mkdir(temporary);
      const leftOut = await unpack(archive, temporary, options);
      await take(temporary, place, options);
      return leftOut;
    });
  } finally {
    // What is still in the queue of a refused archive finds no folder of the old name. No error hides the reason.
    const refused = `${temporary}.refused`;
    await rename(temporary, refused)
      .then(() => removeTree(refused))
      .catch(() => undefined);
  }
}

async function unpack(
  archive: AsyncIterable<Uint8Array>,
  cwd: string,
  { sha256, maxEntries = maxUnpackedEntries, maxBytes = maxUnpackedBytes }: UnpackOptions,
): Promise<string | null> {
  const leftOut = { first: '', count: 0 };
  const kept = { entries: 0, bytes: 0 };
  let problem: Error | undefined;
  let last: ReadEntry | undefined;
  const takes = (entry: ReadEntry): boolean => {
    if (problem !== undefined) return false;
    kept.entries += 1;
    kept.bytes += entry.size;
    if (kept.entries > maxEntries) problem = new Error(`it has more than ${maxEntries} files and folders`);
    else if (kept.bytes > maxBytes) problem = new Error(`it has more than ${maxBytes} bytes`);
    else if ([entry.path, entry.linkpath ?? ''].some((path) => Buffer.byteLength(path) > maxPathBytes))
      problem = new Error(`it has a path or a link of more than ${maxPathBytes} bytes`);
    if (problem !== undefined) return false;
    // The library takes a backslash for a slash, here too.
    const isKept = !`${entry.path}${entry.linkpath ?? ''}`.includes('\\') && isKeptType(entry);
    if (!isKept) {
      leftOut.count += 1;
      leftOut.first ||= cut(entry.path, 200);
    }
    // No right to run as somebody else.
    if (entry.mode !== undefined) entry.mode &= 0o777;
    if (isKept) last = entry;
    return isKept;
  };
  const unpacking = new Unpack({
    cwd,
    // A name that leads out, and everything that cannot be unpacked as it is, ends it.
    strict: true,
    preserveOwner: false,
    // The bounds above count; a file of zeros is no attack.
    maxDecompressionRatio: Number.POSITIVE_INFINITY,
    filter: (_, entry) => takes(entry as ReadEntry),
  });
  let hasEnd = false;
  unpacking.on('eof', () => {
    hasEnd = true;
  });
  const ended = new Promise<void>((resolve) => {
    unpacking.on('close', resolve).on('error', (error: unknown) => {
      // For the library, an archive of an empty folder is none.
      if (hasEnd && kept.entries === 0 && (error as { tarCode?: string }).tarCode === 'TAR_BAD_ARCHIVE') return;
      problem ??= error as Error;
      resolve();
    });
  });
  const hash = createHash('sha256');
  try {
    for await (const piece of archive) {
      hash.update(piece);
      if (!unpacking.write(Buffer.from(piece)))
        await Promise.race([new Promise((resolve) => void unpacking.once('drain', resolve)), ended]);
      if (problem !== undefined) break;
    }
  } finally {
    unpacking.end();
    // After an error, the library leaves the file open.
    last?.end();
  }
  if (problem === undefined) await ended;
  const isAsCollected = hash.digest('hex') === sha256;
  if (problem !== undefined) {
    const { message, code } = problem as NodeJS.ErrnoException;
    // An answer without a length may end anywhere, and nothing else tells it.
    const sent = isAsCollected && cutCodes.has(code) ? '. The service sent it so, and may have cut it off' : '';
    throw new Error(`it cannot be unpacked: ${message}${sent}`, { cause: problem });
  }
  if (sha256 !== null && !isAsCollected) throw new Error('its content differs from what was collected');
  if (leftOut.count === 0) return null;
  const more = leftOut.count === 1 ? '' : ` and ${leftOut.count - 1} more`;
  return `It was saved without ${leftOut.first}${more}: a link that leads out of the folder, a name with a backslash, or no file. The result store has all of it.`;
}

/** An object of the result store, piece by piece if the store can. */
export async function* piecesOf(
  store: Pick<ResultStore, 'get' | 'getStream'>,
  ref: string,
): AsyncGenerator<Uint8Array> {
  if (store.getStream) yield* store.getStream(ref);
  else yield await store.get(ref);
}

const keptTypes: ReadonlySet<string> = new Set([
  'File',
  'OldFile',
  'ContiguousFile',
  'Directory',
  'GNUDumpDir',
  'Link',
]);

const isKeptType = ({ type, path, linkpath = '' }: ReadEntry) =>
  keptTypes.has(type) || (type === 'SymbolicLink' && isInnerLink(path, linkpath));

/** Moves the unpacked folder to its place. */
async function take(temporary: string, place: string, { replaces, taken }: UnpackOptions): Promise<void> {
  const there = await lstat(place).catch(() => undefined);
  // An empty folder is replaced by the rename.
  if (there && !(there.isDirectory() && (await readdir(place)).length === 0)) {
    const isSame = async () => (await digestOf(place)) === (await digestOf(temporary));
    if (there.isDirectory() && !replaces && (await isSame().catch(() => false))) return;
    if (!replaces) throw new Error(taken);
    // A kill at any moment leaves one of them whole.
    const old = `${temporary}.old`;
    await rename(place, old);
    await rename(temporary, place).catch(async (error: unknown) => {
      await rename(old, place);
      throw error;
    });
    await removeTree(old);
    return;
  }
  await rename(temporary, place);
}

/** The same for the same files, modes and links: no times are packed. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const limits = { maxEntries: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
  const list = await listFolder(folder, folder, { refuse: (message) => new Error(message), ...limits });
  for await (const part of packFolder(folder, list)) hash.update(part);
  return hash.digest('hex');
}

/** After an error, files may still be written for a moment. */
const removeTree = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 5 });
