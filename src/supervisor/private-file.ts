/** Files that only their owner may read, written so that no reader ever sees half of one. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SandflowError } from '../contract/sandflow-error.js';

/**
 * Makes the directory, mode 700, and checks that files can be written there.
 * @throws SandflowError `home_not_writable`
 */
export async function prepareHome(home: string): Promise<void> {
  const probe = `${home}/.probe-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await writeFile(probe, '', { mode: 0o600 });
    await rm(probe);
  } catch (cause) {
    const message = `SANDFLOW_HOME (${home}) cannot be written: set it to a directory of yours, or mend its owner and mode.`;
    throw new SandflowError('home_not_writable', message, { cause });
  }
}

/** Replaces the file as a whole, mode 600. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, path);
}

/** The JSON in a file; undefined where there is none or it is not JSON, since it may be of a crash long ago. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error && error.code === 'ENOENT')) {
      return undefined;
    }
    throw error;
  }
}

/** Makes the file with a random key where it is missing or empty. Returns the key. */
export async function ensureKeyFile(path: string): Promise<string> {
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present.trim() !== '') return present.trim();
  const key = `local_${randomBytes(24).toString('hex')}`;
  await writePrivateFile(path, `${key}\n`);
  return key;
}
