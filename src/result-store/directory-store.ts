import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { SandflowError } from '../contract/sandflow-error.js';
import type { ResultStore } from './result-store.js';

const scheme = 'file-store:';

/**
 * A result store in a directory, for workers and users that share a host or a file system. Files have mode 600.
 *
 * @param directory made when it is missing
 */
export function createResultStore(directory: string): ResultStore {
  const root = resolve(directory);

  function locate(key: string): string {
    const path = resolve(root, key);
    if (!path.startsWith(root + sep)) {
      throw new SandflowError('bad_result_key', 'A key of the result store must stay inside its directory.');
    }
    return path;
  }

  async function replace(key: string, write: (file: FileHandle) => Promise<void>): Promise<string> {
    const path = locate(key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
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
        return await readFile(locate(ref.slice(scheme.length)));
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw new SandflowError(
          'result_not_found',
          `The result store at ${root} has no "${ref.slice(scheme.length)}". Do the worker and this command share it?`,
          { cause },
        );
      }
    },

    async list(folder) {
      try {
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
