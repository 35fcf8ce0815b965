/** Packs a folder of `--put` with its modes, as a gzipped tar whose names are relative to it. */
import { access, constants, lstat, readdir, readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { create } from 'tar';
import { maxFileBytes } from '../../contract/workflow-safe/limits.js';
import { maxFolderBytes, maxFolderEntries } from '../../protocol/limits.js';
import { isInnerLink } from './inner-link.js';

/** What is in a folder, counted before anything starts. */
export type FolderList = Readonly<Awaited<ReturnType<typeof listFolder>>>;

/**
 * Lists what will be packed: files, folders and links inside the folder, hidden ones and `.git` too.
 * @param shown the folder as the user named it
 * @param refuse makes the error from a message
 * @returns `entries`: relative to the folder, sorted, with slashes; a folder comes before what is in it
 * @throws what `refuse` makes: for a link that leads out, for what is neither a file, a folder nor a link, for what
 *   cannot be read, for a name that is not UTF-8, and past the limits
 */
export async function listFolder(
  folder: string,
  shown: string,
  { refuse, maxEntries = maxFolderEntries, maxBytes = maxFolderBytes }: ListOptions,
) {
  const entries: string[] = [];
  let bytes = 0;
  let largest = { path: '', bytes: 0 };
  const visit = async (path: string): Promise<void> => {
    const names = await readdir(join(folder, path)).catch((cause: unknown) => {
      throw refuse(`${posix.join(shown, path)} cannot be read. Check its permissions.`, cause);
    });
    for (const name of names.sort()) {
      const inner = posix.join(path, name);
      const innerShown = posix.join(shown, inner);
      if (name.includes('\ufffd')) throw refuse(`${innerShown}: its name is not UTF-8. Rename it.`);
      const found = await lstat(join(folder, inner));
      entries.push(inner);
      if (entries.length > maxEntries)
        throw refuse(`${shown} has more than ${maxEntries} files and folders. Pack it into one file yourself.`);
      if (found.isDirectory()) await visit(inner);
      else if (found.isSymbolicLink()) {
        const target = await readlink(join(folder, inner));
        if (!isInnerLink(inner, target))
          throw refuse(
            `${innerShown} is a link to ${target}, which leads out of the folder, or may. Remove it, or put its target.`,
          );
      } else if (found.isFile()) {
        await access(join(folder, inner), constants.R_OK).catch((cause: unknown) => {
          throw refuse(`${innerShown} cannot be read. Check its permissions.`, cause);
        });
        bytes += found.size;
        if (found.size > largest.bytes) largest = { path: innerShown, bytes: found.size };
      } else throw refuse(`${innerShown} is neither a file, a folder nor a link. Remove it.`);
    }
  };
  await visit('');
  if (bytes > maxBytes)
    throw refuse(
      `${shown} has ${bytes} bytes in ${entries.length} files and folders; the limit is ${maxBytes} bytes. Its largest file is ${largest.path} with ${largest.bytes} bytes.`,
    );
  return { entries, bytes };
}

export interface ListOptions {
  readonly refuse: (message: string, cause?: unknown) => Error;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/**
 * Packs what `listFolder` has listed, in parts that the service takes as files. The same folder has the same parts: no
 * times and no owners are in them.
 * @throws Error of the file system if the folder has changed meanwhile
 */
export async function* packFolder(
  folder: string,
  { entries }: Pick<FolderList, 'entries'>,
  { partBytes = maxFileBytes }: { readonly partBytes?: number } = {},
): AsyncGenerator<Buffer> {
  const packed = create(
    {
      cwd: folder,
      gzip: { portable: true },
      portable: true,
      noMtime: true,
      noDirRecurse: true,
      strict: true,
      // No right to run as somebody else. And each hard link is packed as a file: the library ends twice after a last
      // entry that is a link, and crashes.
      filter: (_, found) => Object.assign(found, { nlink: 1, mode: (found.mode ?? 0) & ~0o7000 }) === found,
    },
    // With the prefix, a name that begins with @ is no archive to add.
    entries.length === 0 ? ['.'] : entries.map((path) => `./${path}`),
  );
  // The iterator listens only while it is asked. It throws an error of before, if something has listened then.
  packed.on('error', () => undefined);
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of packed as AsyncIterable<Buffer>) {
    for (let rest = piece; rest.length > 0; ) {
      const taken = rest.subarray(0, partBytes - bytes);
      pieces.push(taken);
      bytes += taken.length;
      rest = rest.subarray(taken.length);
      if (bytes < partBytes) continue;
      yield Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}
