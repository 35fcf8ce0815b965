/** A collected file takes the place of another file only if the options name that file. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isFolderPath } from '../../contract/workflow-safe/folder-path.js';
import { isFolder } from '../../os/make-folders.js';
import { patchName } from '../../protocol/job/patch-name.js';
import { joinPair } from '../../texts/path-pair.js';
import { type GetPair, requireGetPlaces } from '../settings/file-pairs.js';
import { UsageError } from '../usage-error.js';

/**
 * Where a collected file is saved: in a folder that exists, under its own name. A folder is saved at the place that the
 * options name, and nowhere else.
 * @returns `local` as the options write it, with the name of the file; `keepsOther` is true if they name no file, or only
 *   its folder
 */
export async function savedPlace({ remote, local, named }: GetPair, cwd: string) {
  if (isFolderPath(remote)) return { local, path: resolve(cwd, local), keepsOther: true };
  const isInFolder = await isFolder(resolve(cwd, local));
  const whole = isInFolder ? join(local, basename(remote)) : local;
  return { local: whole, path: resolve(cwd, whole), keepsOther: isInFolder || !named };
}

/** Says that a place is taken. @param named the option that names the file itself */
export function takenText(local: string, named: string): string {
  return `${local} exists already. Move it, or name the file to replace: ${named}`;
}

/** Says the same of a folder, which never takes the place of another one. */
export function takenFolderText({ remote, local }: GetPair): string {
  return `${local} exists already, and has another content. Move it, or name another place: --get ${joinPair(remote, 'OTHER')}`;
}

/**
 * Checks where a job saves its files. Only a new job must not take the place of others: with `--id`, it may be another
 * attempt to save those of the same job.
 * @returns the error if the job turns out to be new; undefined if there is none
 * @throws UsageError if a file cannot be saved at its place, or if the job is certainly new
 */
export async function checkGetPlaces(
  pairs: readonly GetPair[],
  { id, detach }: { readonly id?: string | undefined; readonly detach?: boolean | undefined },
  cwd: string,
): Promise<UsageError | undefined> {
  await requireGetPlaces(pairs, cwd);
  const taken = detach ? undefined : await takenPlace(pairs, cwd);
  if (taken && id === undefined) throw taken;
  return taken;
}

async function takenPlace(pairs: readonly GetPair[], cwd: string): Promise<UsageError | undefined> {
  for (const pair of pairs) {
    const { local, path, keepsOther } = await savedPlace(pair, cwd);
    const found = keepsOther ? await stat(path).catch(() => undefined) : undefined;
    if (!found || (isFolderPath(pair.remote) && (await isEmptyFolder(path)))) continue;
    const isPatch = pair.remote === patchName;
    if (isFolderPath(pair.remote)) return new UsageError(`--get: ${takenFolderText(pair)}.`);
    const named = isPatch ? `--get-diff=${joinPair('FOLDER', local)}` : `--get ${joinPair(pair.remote, local)}`;
    return new UsageError(`${isPatch ? '--get-diff' : '--get'}: ${takenText(local, named)}.`);
  }
  return undefined;
}

const isEmptyFolder = (path: string) =>
  readdir(path).then(
    (names) => names.length === 0,
    () => false,
  );
