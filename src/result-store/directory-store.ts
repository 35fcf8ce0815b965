import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { SandflowError } from '../contract/sandflow-error.js';
import { makeFolderOf } from '../os/inner-folder.js';

const scheme = 'file-store:';
/** An object may be replaced while it is opened; not so often. */
const attemptsToRead = 100;

/**
 * A result store in a directory, for workers and users that share a host or a file system. Files have mode 600. No link in it is
 * followed: who may write to a store could have this process read and write files elsewhere. The directory itself may be one.
 *
 * @param created if it is missing
 */
export function createResultStore(directory: string): ResultStore {
  const root = resolve(directory);

  function locate(key: string): string {
    const path = resolve(root, key);
    if (!path.startsWith(root + sep)) throw outside();
    return path;
  }

  /** @throws what the file system says, and SandflowError `bad_result_key` for what is no file of this directory */
  async function read(path: string): Promise<Buffer> {
    for (let attempt = 1; ; attempt += 1) {
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        await checkFolder(dirname(path));
        const [opened, there] = [await file.stat(), await lstat(path)];
        if (!opened.isFile()) throw outside();
        if (opened.ino === there.ino && opened.dev === there.dev) return await file.readFile();
        if (attempt === attemptsToRead) throw outside();
      } finally {
        await file.close();
      }
    }
  }

  async function checkFolder(folder: string): Promise<void> {
    if ((await realpath(folder)) !== join(await realpath(root), relative(root, folder))) throw outside();
  }

  async function replace(key: string, write: (file: FileHandle) => Promise<void>): Promise<string> {
    const path = locate(key);
    await mkdir(root, { recursive: true, mode: 0o700 });
    await makeFolderOf(path, root, 0o700);
    const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
    try {
      const file = await open(temporary, 'wx', 0o600);
      await write(file).finally(() => file.close());
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return scheme + key;
  }

  return {
    async put(key, content) {
      const ref = await replace(key, (file) => file.writeFile(content));
      const sha256 = createHash('sha256').update(content).digest('hex');
      return { ref, size: content.byteLength, sha256 };
    },

    async putStream(key, content) {
      const hash = createHash('sha256');
      let size = 0;
      const ref = await replace(key, async (file) => {
        for await (const piece of content) {
          hash.update(piece);
          size += piece.byteLength;
          await file.writeFile(piece);
        }
      });
      return { ref, size, sha256: hash.digest('hex') };
    },

    async get(ref) {
      if (!ref.startsWith(scheme)) {
        throw new SandflowError('result_not_found', 'This reference belongs to another result store.');
      }
      try {
        return await read(locate(ref.slice(scheme.length)));
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        if (code === 'ELOOP') throw outside(cause);
        if (code !== 'ENOENT') throw cause;
        throw new SandflowError(
          'result_not_found',
          `The result store at ${root} has no "${ref.slice(scheme.length)}". Do the worker and this command share it?`,
          { cause },
        );
      }
    },

    async list(folder) {
      try {
        await checkFolder(locate(folder));
        const entries = await readdir(locate(folder), { recursive: true, withFileTypes: true });
        return entries
          .filter((entry) => entry.isFile() && !(entry.name.startsWith('.') && entry.name.endsWith('.tmp')))
          .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep).join('/'))
          .map((key) => ({ key, ref: scheme + key }));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
  };
}

function outside(cause?: unknown): SandflowError {
  return new SandflowError('bad_result_key', 'A key of the result store must stay inside its directory.', { cause });
}

export interface StoredObject {
  /** Names the object in its store; opaque to everyone else. */
  readonly ref: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
}

/** An object as a list of them shows it. */
export interface ListedObject {
  /** The key that the object was stored under. */
  readonly key: string;
  /** Names the object in its store; opaque to callers. */
  readonly ref: string;
}

/** A store for objects that are too large for Temporal's history. */
export interface ResultStore {
  /** Writes `content` under `key`. Safe to repeat: the last whole write wins, and no reader sees half of one. */
  put(key: string, content: Uint8Array): Promise<StoredObject>;
  /**
   * The same with content of any size that comes piece by piece, never all of it in memory. Where `content` throws,
   * nothing of it is left, and the error is passed on.
   */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<StoredObject>;
  /** @throws SandflowError `result_not_found` */
  get(ref: string): Promise<Buffer>;
  /** The objects whose keys begin with `folder` and a slash, in no order. None if there is no such folder. */
  list(folder: string): Promise<readonly ListedObject[]>;
}
