/** Secret files of environments: checks their paths, writes them to a disk and removes them. */
import { posix } from 'node:path';
import type { Context } from '../core/context.js';
import { MachineError, sandboxHome } from '../machine/index.js';
import { invalidRequest } from '../service-error.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

const onlyItsOwner = 0o600;
/** Errors of the whole disk; all others are those of a path. */
const diskErrors: ReadonlySet<string> = new Set(['no_disk', 'copy_failed', 'ended', 'closed']);
const maxPathBytes = 1024;
const maxNameBytes = 255;

/**
 * Converts a path to a path relative to the home. Accepts a relative path, a path that begins with `~/`, and an
 * absolute path below `/home/sandbox`.
 * @returns undefined for a path that leaves the home, is the home itself or ends in `/`; also for one that has a NUL
 *   character or is too long for a disk
 */
export function pathBelowHome(path: string): string | undefined {
  let inside = path;
  if (inside.startsWith('~/')) inside = inside.slice(2);
  else if (posix.isAbsolute(inside)) {
    inside = posix.normalize(inside);
    if (!inside.startsWith(`${sandboxHome}/`)) return undefined;
    inside = inside.slice(sandboxHome.length + 1);
  }
  const plain = posix.normalize(inside);
  if (plain === '.' || plain === '..' || plain.startsWith('../') || plain.startsWith('/') || plain.endsWith('/')) {
    return undefined;
  }
  const tooLong =
    Buffer.byteLength(plain) > maxPathBytes || plain.split('/').some((name) => Buffer.byteLength(name) > maxNameBytes);
  return plain.includes('\0') || tooLong ? undefined : plain;
}

/** @throws ServiceError 400 for a path that `pathBelowHome` refuses, and for two paths that cannot both be files */
export function requireGoodPaths(files: readonly SecretFile[]): void {
  const refuse = (index: number, problem: string): never => {
    throw invalidRequest(`secretFiles.${index}.path: ${problem}`);
  };
  const taken = new Set<string>();
  const folders = new Set<string>();
  for (const [index, { path }] of files.entries()) {
    const plain = pathBelowHome(path) ?? refuse(index, `must be the path of a file below ${sandboxHome}.`);
    if (taken.has(plain)) refuse(index, 'must differ from the path of every other file.');
    if (folders.has(plain)) refuse(index, 'must not be a parent folder of another file.');
    taken.add(plain);
    for (let folder = posix.dirname(plain); folder !== '.'; folder = posix.dirname(folder)) {
      if (taken.has(folder)) refuse(index, 'must not lie below the path of another file.');
      folders.add(folder);
    }
  }
}

/**
 * Makes `files` the secret files of a disk. Writes each of them again, accessible only to its owner, and removes other
 * files that an environment has put there. The caller holds the lock of the sandbox. Safe to repeat.
 * @returns the paths that are blocked by something of the user's, such as a folder or a link
 * @throws MachineError `no_disk`, `copy_failed`, `ended`, `closed`; Error if the disk cannot be written. Changes that
 *   were made until then stay, and their paths are recorded.
 */
export async function placeSecretFiles(
  context: Pick<Context, 'stores' | 'host'>,
  sandbox: SandboxRecord,
  files: readonly SecretFile[],
): Promise<readonly string[]> {
  const { stores, host } = context;
  const { id } = sandbox;
  const contents = new Map(files.map(({ path, contents: text }) => [pathBelowHome(path) ?? path, text]));
  const remember = (paths: readonly string[]): void => {
    const now = stores.sandboxes.get(id);
    if (now && paths.join('\0') !== now.secretFilePaths.join('\0')) {
      stores.sandboxes.put({ ...now, secretFilePaths: paths });
    }
  };
  // The paths are recorded before any file is written, so that no file on the disk is ever forgotten.
  remember([...new Set([...sandbox.secretFilePaths, ...contents.keys()])]);
  const blocked: string[] = [];
  const attempt = async (path: string, change: Promise<void>): Promise<void> => {
    try {
      await change;
    } catch (cause) {
      if (!(cause instanceof MachineError) || diskErrors.has(cause.code)) throw cause;
      blocked.push(path);
    }
  };
  for (const path of sandbox.secretFilePaths) if (!contents.has(path)) await attempt(path, host.removeFile(id, path));
  for (const [path, text] of contents) {
    await attempt(path, writeAnew(host, id, { path, contents: text }));
  }
  // The path of a file that could not be removed stays recorded, for the next attempt.
  remember([...new Set([...contents.keys(), ...blocked])]);
  return blocked;
}

/** Replaces even a file that its owner may not write, since key files are often created that way. */
async function writeAnew(host: Context['host'], sandboxId: string, { path, contents }: SecretFile): Promise<void> {
  // A repository may hold a link, which would take the secret to a file that is committed, or that no wipe finds.
  const options = { mode: onlyItsOwner, refuseLinks: true };
  const write = () => host.writeFile(sandboxId, path, Buffer.from(contents), options);
  try {
    await write();
  } catch (cause) {
    if (!(cause instanceof MachineError && cause.code === 'no_access')) throw cause;
    await host.removeFile(sandboxId, path);
    await write();
  }
}
