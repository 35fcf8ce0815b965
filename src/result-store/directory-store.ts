import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { isDiskFull, namingFullDisk } from '../errors/disk-full.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { createLinkCheck, makeFolderOf } from '../os/inner-folder.js';
import { makeFolders } from '../os/make-folders.js';
import { byOwnUser } from '../os/owner.js';
import { preparing } from './put-after.js';
import { isTemporary, keyOf, notStored, outside, refOf, requireAtMost } from './references.js';
import type { CopiedStore, StoredObject } from './result-store.js';

type Write = (file: FileHandle) => Promise<void>;

/**
 * Error codes for a path that no object can have: a folder is missing or is a file, the path is too long, or it
 * contains NUL.
 */
const namesNothing: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']);
/** Maximum number of attempts. An object may be replaced while it is opened, but hardly this often in a row. */
const attemptsToRead = 1_000;

/**
 * A result store in a directory, for workers and users that share a host or a file system. Files have mode 600.
 * The directory itself may be a link. No link inside it is followed. Otherwise anyone who can write to the store could
 * make this process read and write files elsewhere.
 *
 * @param directory created if it is missing
 */
export function createDirectoryStore(directory: string): CopiedStore {
  const root = resolve(directory);
  const isWithoutLinks = createLinkCheck(root);

  function locate(key: string): string {
    const path = resolve(root, key);
    if (!path.startsWith(root + sep)) throw outside();
    return path;
  }

  /**
   * @throws errors of the file system, and SandflowError `bad_result_key` if the path is not a file of this directory
   */
  async function openObject(path: string, maxBytes = Number.POSITIVE_INFINITY): Promise<FileHandle> {
    for (let attempt = 1; ; attempt += 1) {
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        await checkFolder(dirname(path));
        const [opened, there] = [await file.stat(), await lstat(path)];
        if (!opened.isFile()) throw outside();
        requireAtMost(maxBytes, opened.size);
        if (opened.ino === there.ino && opened.dev === there.dev) return file;
        if (attempt === attemptsToRead) throw outside();
      } catch (error) {
        await file.close();
        throw error;
      }
      await file.close();
    }
  }

  async function read(path: string, maxBytes: number): Promise<Buffer> {
    const file = await openObject(path, maxBytes);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  }

  async function checkFolder(folder: string): Promise<void> {
    if (!(await isWithoutLinks(folder))) throw outside();
  }

  async function makeFolderFor(path: string): Promise<void> {
    const make = () => makeFolderOf(path, root, { mode: 0o700, isWithoutLinks });
    if (dirname(path) !== root) {
      try {
        return await make();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    // The directory itself is rarely missing. Only then, or for an object right in it, is it worth a call.
    await makeFolders(root, { mode: 0o700 });
    await make();
  }

  /** @param isDue resolves when the write may replace what is there, and fails if it must not */
  async function replace(key: string, write: Write, isDue?: () => unknown): Promise<string> {
    const path = locate(key);
    const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
    const create = () => makeFolderFor(path).then(() => open(temporary, 'wx', 0o600));
    // A removal may take away the folder while it is empty.
    const file = await create().catch((error) => (error.code === 'ENOENT' ? create() : Promise.reject(error)));
    try {
      await write(file).finally(() => file.close());
      await isDue?.();
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return refOf(key);
  }

  const replaceObject = (key: string, write: Write, isDue?: () => unknown) =>
    namingFullDisk(locate(key), () => replace(key, write, isDue));

  async function put(key: string, content: Uint8Array, isDue: () => unknown): Promise<StoredObject> {
    const ref = await replaceObject(key, (file) => file.writeFile(content), isDue);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { ref, size: content.byteLength, sha256 };
  }

  /** The keys that begin with `start`, those of interrupted writes too. */
  async function* keysFrom(start: string): AsyncGenerator<string> {
    const folder = start.slice(0, Math.max(0, start.lastIndexOf('/')));
    const path = folder === '' ? root : locate(folder);
    if ((await isWithoutLinks(path).catch(nullIfMissing)) === false) throw outside();
    for await (const entry of (await opendir(path).catch(nullIfMissing)) ?? []) {
      const key = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!key.startsWith(start)) continue;
      if (entry.isDirectory()) yield* keysFrom(`${key}/`);
      else if (entry.isFile()) yield key;
    }
  }

  const store: CopiedStore = {
    async checkWritable() {
      const probe = join(root, `.${randomUUID()}.tmp`);
      try {
        await makeFolders(root, { mode: 0o700 });
        await (await open(probe, 'wx', 0o600)).close();
        await rm(probe);
      } catch (cause) {
        // Jobs wait for space, so a worker may start without it.
        if (isDiskFull(cause)) return;
        const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
        const message = `The result store ${root} cannot be written${byOwnUser()} (${why}). Give it to this user (\`chown\`), or set SANDFLOW_RESULTS to a directory that this user may write.`;
        throw new SandflowError('result_store_unwritable', message, { cause });
      }
    },

    // The caller may have stored something newer since.
    put: (key, content, { signal } = {}) => put(key, content, () => signal?.throwIfAborted()),

    async putStream(key, content) {
      const hash = createHash('sha256');
      let size = 0;
      const ref = await replaceObject(key, async (file) => {
        for await (const piece of content) {
          hash.update(piece);
          size += piece.byteLength;
          await file.writeFile(piece);
        }
      });
      return { ref, size, sha256: hash.digest('hex') };
    },

    async get(ref, { maxBytes = Number.POSITIVE_INFINITY } = {}) {
      const key = keyOf(ref);
      try {
        return await read(locate(key), maxBytes);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        if (code === 'ELOOP') throw outside(cause);
        if (code === undefined || !namesNothing.has(code)) throw cause;
        throw notStored(root, key, cause);
      }
    },

    async *getStream(ref) {
      const file = await openObject(locate(keyOf(ref)));
      yield* file.createReadStream({ highWaterMark: 1024 * 1024 });
    },

    async find(key) {
      const there = await lstat(locate(key)).catch(nullIfMissing);
      if (!there?.isFile()) return null;
      return checkFolder(dirname(locate(key))).then(() => refOf(key), nullIfMissing);
    },

    async list(folder) {
      const keys: string[] = [];
      for await (const key of keysFrom(folder && `${folder}/`)) keys.push(key);
      return keys.filter((key) => !isTemporary(key)).map((key) => ({ key, ref: refOf(key) }));
    },

    async *listEach(start) {
      for await (const key of keysFrom(start)) {
        const there = await lstat(locate(key)).catch(nullIfMissing);
        if (there) yield { key, ref: refOf(key), writtenMs: there.mtimeMs, size: there.size };
      }
    },

    async remove({ key, writtenMs }) {
      const path = locate(key);
      const there = (await store.find(key)) && (await lstat(path).catch(nullIfMissing));
      if (!there || there.mtimeMs !== writtenMs) return false;
      await rm(path, { force: true });
      // Ends at the first that is not empty.
      let isEmpty = true;
      for (let folder = dirname(path); isEmpty && folder !== root; folder = dirname(folder))
        isEmpty = await rmdir(folder).then(
          () => true,
          () => false,
        );
      return true;
    },
  };
  return preparing(store, (after, key, content, { signal } = {}) =>
    put(key, content, async () => {
      await after;
      signal?.throwIfAborted();
      // Meanwhile somebody may have put a link in the place of the folder.
      await checkFolder(dirname(locate(key)));
    }),
  );
}

const nullIfMissing = (error: NodeJS.ErrnoException) =>
  namesNothing.has(error.code ?? '') ? null : Promise.reject(error);
