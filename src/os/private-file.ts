/**
 * Writes and reads files that only their owner may read. No reader ever sees half a file. Files of other users are not
 * trusted.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { namingFullDisk } from '../errors/disk-full.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { headerSecret } from '../secrecy/known-secrets.js';
import { makeFolders } from './make-folders.js';
import { isReadableByOthers, isTrustedOwner, isWritableByOthers, ownUser } from './owner.js';

/** Opening a FIFO must not block. */
const readOnly = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Opens a file, which the caller closes.
 * @param name the file as an error begins with it: its path, and what it is
 * @returns undefined if there is none
 * @throws SandflowError `bad_configuration`, which says who would have to change what. A secret that is mounted as that of
 *   root cannot be read by the user of a container
 */
export function openToRead(path: string, name = path): Promise<FileHandle | undefined> {
  return unlessMissing(open(path, readOnly)).catch(async (cause: unknown) => {
    throw new SandflowError('bad_configuration', `${name} cannot be read${await whyUnreadable(path)}.`, { cause });
  });
}

async function whyUnreadable(path: string): Promise<string> {
  const user = ownUser();
  if (user === undefined) return '';
  const found = await stat(path).catch(() => undefined);
  if (!found) return ` by user ${user}: a folder on its path is closed to this user`;
  const mode = (found.mode & 0o7777).toString(8);
  const owner = `it belongs to user ${found.uid} and group ${found.gid}, with mode ${mode}`;
  const mend = `Run \`chown ${user} ${path}\`, or \`chgrp ${process.getegid?.()} ${path}; chmod 440 ${path}\``;
  return ` by user ${user}: ${owner}. ${mend}`;
}

/** Creates the file, mode 600. It is on the disk before the call returns: nobody shows its content a second time. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

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
 * Reads a file of this process's user or of root that nobody but its owner can have written. If everybody may read a
 * file of ours, its mode is changed to 600.
 * @returns the text; undefined if the file does not exist
 * @throws SandflowError `file_not_trusted`, which says what is wrong; `bad_configuration` if this user may not read it
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await openToRead(path);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    const link = await lstat(path);
    if (!stats.isFile()) throw notTrusted(path, 'it is not a regular file');
    for (const { uid } of [stats, link]) if (!isTrustedOwner(uid)) throw notTrusted(path, `it belongs to user ${uid}`);
    if (isWritableByOthers(stats)) throw notTrusted(path, 'others may write to it');
    if (isReadableByOthers(stats) && stats.uid === ownUser()) await closeToOthers(file);
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

/** A file that an orchestrator mounts cannot be changed. */
async function closeToOthers(file: FileHandle): Promise<void> {
  await file.chmod(0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EROFS') throw error;
  });
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
