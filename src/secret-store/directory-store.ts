import { randomUUID } from 'node:crypto';
import { chmod, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SandflowError } from '../errors/sandflow-error.js';
import { makeFolders } from '../os/make-folders.js';
import { writeSynced } from '../os/private-file.js';
import { checkedName, isSecretName, keepLine, nameOf, notKept, refOf, type SecretStore } from './secret-store.js';

/** A secret store in a directory of mode 700, one file of mode 600 per secret, for workers that share a file system. */
export function createDirectorySecrets(directory: string): SecretStore {
  const root = resolve(directory);

  const locate = (ref: string) => join(root, nameOf(ref));

  return {
    async put(name, value) {
      keepLine(value);
      const path = join(root, checkedName(name));
      const temporary = join(root, `.${randomUUID()}.tmp`);
      try {
        await makeFolders(root, { mode: 0o700 });
        // The folder may have existed before, with a mode that lets others read it.
        await chmod(root, 0o700);
        await writeSynced(temporary, value);
        await rename(temporary, path);
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw new SandflowError(
          'secret_store_unwritable',
          `The secret "${name}" cannot be stored in ${root}. Correct the owner and mode of the directory.`,
          { cause },
        );
      }
      return refOf(name);
    },

    async get(ref) {
      try {
        const value = await readFile(locate(ref), 'utf8');
        keepLine(value);
        return value;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw notKept(root, nameOf(ref), cause);
      }
    },

    async delete(ref) {
      await rm(locate(ref), { force: true });
    },

    async list() {
      try {
        return (await readdir(root)).filter(isSecretName).sort();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
  };
}
