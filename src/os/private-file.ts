/**
 * Writes and reads files that only their owner may read. No reader ever sees half a file. Files of other users are not
 * trusted.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { namingFullDisk } from '../contract/disk-full.js';
import { headerSecret } from '../contract/secrecy/known-secrets.js';
import { SandflowError } from '../contract/workflow-safe/sandflow-error.js';
import { makeFolders } from './make-folders.js';
import { isOpenToOthers, isTrustedOwner, isWritableByOthers, ownUser } from './owner.js';

/** The largest file that `readPrivateText` reads. */
const maxTextBytes = 64 * 1024;
/** Opening a FIFO must not block. */
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK;

/** Replaces the file as a whole, mode 600. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await namingFullDisk(path, async () => {
    await makeFolders(dirname(path), { mode: 0o700 });
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  });
}

/**
 * Reads a file of this process's user or of root that nobody but its owner can have written. If others may read a file
 * of ours, its mode is changed to 600.
 * @returns the text; undefined if the file does not exist
 * @throws SandflowError `file_not_trusted`, which says what is wrong
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await unlessMissing(open(path, readOnly));
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    const link = await lstat(path);
    if (!stats.isFile()) throw notTrusted(path, 'it is not a regular file');
    for (const { uid } of [stats, link]) if (!isTrustedOwner(uid)) throw notTrusted(path, `it belongs to user ${uid}`);
    if (isWritableByOthers(stats)) throw notTrusted(path, 'others may write to it');
    if (isOpenToOthers(stats) && stats.uid === ownUser()) await file.chmod(0o600);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/**
 * Reads JSON from a private file. Returns undefined if the file does not exist, or if it is not JSON, as after a crash.
 */
export async function readJsonFile(path: string): Promise<unknown> {
  const text = await readPrivateFile(path);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Creates the file with a random key if it is missing or empty. Returns the key.
 * @throws SandflowError `bad_api_key` if the text of the file cannot be a key
 */
export async function ensureKeyFile(path: string): Promise<string> {
  const present = (await readPrivateFile(path)) ?? '';
  if (present.trim() !== '') return headerSecret(`The key in ${path}`, present);
  const key = `local_${randomBytes(24).toString('hex')}`;
  await writePrivateFile(path, `${key}\n`);
  return key;
}

function notTrusted(path: string, why: string): SandflowError {
  const mend = 'Check its content, then correct its owner and mode (chmod 600), or remove it.';
  return new SandflowError('file_not_trusted', `${path} is not trusted: ${why}. ${mend}`);
}

/** The result of `access`; undefined if the file does not exist. */
export async function unlessMissing<T>(access: Promise<T>): Promise<T | undefined> {
  try {
    return await access;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Reads a small file that holds a secret, and refuses one that other users may read or write.
 * @param path a regular file of this user or of root, for example with mode 600
 * @param what kind of file it is, for messages, such as `file of encryption keys`
 * @throws SandflowError `bad_configuration`
 */
export async function readPrivateText(path: string, what: string): Promise<string> {
  const refuse = (why: string, cause?: unknown) =>
    new SandflowError('bad_configuration', `The ${what}, ${path}, ${why}.`, { cause });
  const file = await open(path, readOnly).catch((cause: unknown) => {
    throw refuse('cannot be read', cause);
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw refuse('is not a regular file');
    if (!isTrustedOwner(stat.uid)) throw refuse('belongs to somebody else');
    if (isOpenToOthers(stat)) throw refuse('may be read or written by others: set its mode to 600');
    if (stat.size > maxTextBytes) throw refuse('is too large');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
