/** Saves each file that a job collected to the path that `--get` gives. */

import { createHash } from 'node:crypto';
import { lstat, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isFolderPath } from '../../contract/workflow-safe/folder-path.js';
import { isDiskFull, namingFullDisk } from '../../errors/disk-full.js';
import { makeFolders } from '../../os/make-folders.js';
import type { CollectedFile } from '../../protocol/job/job-result.js';
import type { ResultStore } from '../../result-store/index.js';
import { joinPair } from '../../texts/path-pair.js';
import { piecesOf, unpackFolder } from '../folders/unpack-folder.js';
import type { ReportedFile } from '../output/job-report.js';
import { programName } from '../program-name.js';
import { replaceFile } from '../replace-file.js';
import type { GetPair } from '../settings/file-pairs.js';
import { savedPlace, takenFolderText, takenText } from './free-places.js';

/**
 * Writes each file under a temporary name and then renames it, so that no reader sees half a file.
 * @param store the result store
 * @returns the files of the job, and the files of `pairs` that it did not collect. The local path of a file that was
 * not saved is null, and `error` says why if it should have been saved, or what a saved folder lacks.
 */
export async function saveFiles(
  collected: readonly CollectedFile[],
  pairs: readonly GetPair[],
  store: Pick<ResultStore, 'get' | 'getStream'>,
  cwd: string,
  jobId = 'ID',
): Promise<ReportedFile[]> {
  const again = (remote: string) =>
    ` Or save it on another disk: ${programName} jobs watch ${jobId} --get '${joinPair(remote, 'OTHER_PATH')}'`;
  const reported: ReportedFile[] = [];
  for (const file of collected) {
    const pair = pairs.find(({ remote }) => remote === file.path);
    if (!pair || file.error !== null || file.ref === null) {
      reported.push({ ...file, localPath: null });
      continue;
    }
    try {
      if (isFolderPath(file.path)) {
        const { localPath, leftOut } = await saveFolder({ ...file, ref: file.ref }, pair, store, cwd);
        reported.push({ ...file, localPath, error: leftOut });
        continue;
      }
      const content = await store.get(file.ref);
      const digest = createHash('sha256').update(content).digest('hex');
      if (file.sha256 !== null && digest !== file.sha256)
        throw new Error('its content differs from what was collected');
      reported.push({ ...file, localPath: await save(pair, content, cwd) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      reported.push({
        ...file,
        localPath: null,
        error: `It was collected but cannot be written to ${pair.local}: ${reason}${isDiskFull(error) ? again(file.path) : ''}`,
      });
    }
  }
  return [...reported, ...notCollected(collected, pairs)];
}

/** The files that `--get` names and the job did not collect. */
function notCollected(collected: readonly CollectedFile[], pairs: readonly GetPair[]): ReportedFile[] {
  const paths = collected.map(({ path }) => path);
  const has = paths.length === 0 ? 'It collected no files' : `It collected ${paths.join(', ')}`;
  const error = `The job did not collect it. ${has}. \`run --get\` names the files when the job starts.`;
  const absent = { size: null, sha256: null, ref: null, partial: false, unchanged: null, localPath: null };
  return pairs
    .filter(({ remote }) => !paths.includes(remote))
    .map(({ remote }) => ({ ...absent, path: remote, error }));
}

async function saveFolder(
  { ref, sha256 }: Pick<CollectedFile, 'sha256'> & { readonly ref: string },
  pair: GetPair,
  store: Pick<ResultStore, 'get' | 'getStream'>,
  cwd: string,
): Promise<{ readonly localPath: string; readonly leftOut: string | null }> {
  const { path } = await savedPlace(pair, cwd);
  if ((await lstat(path).catch(() => undefined))?.isSymbolicLink()) throw new Error('it is a link. Name another place');
  await namingFullDisk(path, () => makeFolders(dirname(path)));
  const options = { sha256, replaces: false, taken: takenFolderText(pair) };
  return { localPath: path, leftOut: await unpackFolder(piecesOf(store, ref), path, options) };
}

async function save(pair: GetPair, content: Buffer, cwd: string): Promise<string> {
  const place = resolve(cwd, pair.local);
  const { local, path, keepsOther } = await savedPlace(pair, cwd);
  // The link may come from the code of a project, and lead to any folder, such as the one with the user's keys.
  if (path !== place && (await lstat(place)).isSymbolicLink())
    throw new Error('it is a link to a folder. Name the place in that folder, with a slash');
  const other = keepsOther ? await readFile(path).catch(() => undefined) : undefined;
  if (other && !other.equals(content)) throw new Error(takenText(local, `--get ${joinPair(pair.remote, local)}`));
  await namingFullDisk(path, () => makeFolders(dirname(path)));
  await replaceFile(path, (temporary) => writeFile(temporary, content, { flag: 'wx' }));
  return path;
}
