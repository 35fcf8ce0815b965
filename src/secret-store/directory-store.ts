import { randomUUID } from 'node:crypto';
import { chmod, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SandflowError } from '../errors/sandflow-error.js';
import { makeFolders } from '../os/make-folders.js';
import { keepSecret } from '../secrecy/known-secrets.js';
import { requireOptions } from '../settings/required-options.js';

const scheme = 'secret-store:';
const namePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

/**
 * A secret store in a directory of mode 700, one file of mode 600 per secret, for workers that share a file system.
 * Nothing is created before the first `put`.
 * @example
 * const secrets = createSecretStore('/var/lib/sandflow/secrets');
 * const activities = createActivities({ client: api, results, secrets, taskQueue });
 */
export function createSecretStore(directory: string): SecretStore {
  requireOptions({ directory }, { directory: 'a text' });
  const root = resolve(directory);

  function locate(ref: string): string {
    if (!ref.startsWith(scheme)) {
      throw new SandflowError('secret_not_found', 'This reference belongs to another secret store.');
    }
    return join(root, checkedName(ref.slice(scheme.length)));
  }

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
      return scheme + name;
    },

    async get(ref) {
      try {
        const value = await readFile(locate(ref), 'utf8');
        keepLine(value);
        return value;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        const name = ref.slice(scheme.length);
        const message = `The secret store at ${root} has no "${name}". Do the workers share it?`;
        throw new SandflowError('secret_not_found', message, { cause });
      }
    },

    async delete(ref) {
      await rm(locate(ref), { force: true });
    },

    async list() {
      try {
        return (await readdir(root)).filter((name) => namePattern.test(name)).sort();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
  };
}

/** A value of several lines is a file, such as the variables of an environment, most of whose lines are no secrets. */
function keepLine(value: string): void {
  if (!value.trim().includes('\n')) keepSecret(value);
}

function checkedName(name: string): string {
  if (namePattern.test(name)) return name;
  throw new SandflowError(
    'bad_secret_name',
    'The name of a secret must be 1 to 128 letters, digits, dots, dashes and underscores, and must not begin with a dot.',
  );
}

/** The service shows a secret only once, so it must be on the disk before the call returns. */
async function writeSynced(path: string, value: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(value);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Keeps secrets that the service shows once. Workflows get their references. */
export interface SecretStore {
  /**
   * Stores `value` under `name`. Safe to repeat: the last value counts, and no reader sees a part of a value.
   * @param name 1 to 128 characters of `a-z A-Z 0-9 . _ -`, not beginning with a dot
   * @returns the reference that `get` and `delete` take; it contains the name and no secret
   * @throws SandflowError `bad_secret_name`, `secret_store_unwritable`
   */
  put(name: string, value: string): Promise<string>;
  /** @throws SandflowError `secret_not_found` */
  get(ref: string): Promise<string>;
  /** Safe to repeat: a missing secret is not an error. */
  delete(ref: string): Promise<void>;
  /** The names of all secrets, sorted. */
  list(): Promise<string[]>;
}
