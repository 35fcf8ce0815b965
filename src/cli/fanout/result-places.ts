/** Where the results of a batch are saved. */
import { open, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { namingFullDisk } from '../../errors/disk-full.js';
import { makeFolderOf } from '../../os/inner-folder.js';
import { isFolder, makeFolders } from '../../os/make-folders.js';
import type { FanoutAddress } from '../../workflow-client/fanouts/fanout-client.js';
import { systemCodeOf } from '../error-fields.js';
import type { CliIo } from '../io.js';
import { requirePlaces } from '../output-places.js';
import { UsageError } from '../usage-error.js';
import type { WatchFanoutOptions } from './options.js';
import { parseItemGets } from './results/item-places.js';

/** Each line of a results file begins with the id of the batch. */
const headBytes = 200;

export function folderOf(batchId: string): string {
  return `fanout-${batchId}`;
}

/** @throws UsageError if the results cannot be saved where the options say, or would mix with those of another batch */
export async function requireResultPlaces(
  batchId: string,
  { out, get = [] }: Partial<Pick<WatchFanoutOptions, 'out' | 'get'>>,
  { cwd }: Pick<CliIo, 'cwd'>,
): Promise<void> {
  parseItemGets(get);
  const refusesLink = out === undefined;
  const folder = { option: '--out', path: out ?? folderOf(batchId), kind: 'folder', refusesLink } as const;
  await requirePlaces([folder], cwd);
  const other = await batchOf(resolve(cwd, folder.path, 'results.jsonl'));
  if (other === undefined || other === batchId) return;
  throw new UsageError(`--out: ${folder.path} has the results of the batch ${other}. Choose another folder.`);
}

/** Names the batch that a folder of results belongs to. */
const markFile = '.sandflow-batch';

/**
 * Makes the folder, and marks it as that of one batch. Call it before the first item is sent or the watch begins, and
 * again before each write, because somebody may have removed it. Safe to repeat.
 * @returns a function that removes what this call has made, if the command will write nothing there
 * @throws UsageError if the folder belongs to another batch
 */
export async function claimResultFolder(
  { deployment, batchId }: FanoutAddress,
  { out }: Pick<WatchFanoutOptions, 'out'>,
  { cwd }: Pick<CliIo, 'cwd'>,
): Promise<() => Promise<void>> {
  const name = out ?? folderOf(batchId);
  const folder = resolve(cwd, name);
  const wasThere = await isFolder(folder);
  if (out === undefined) await makeDefaultFolder(cwd, name);
  else await namingFullDisk(folder, () => makeFolders(folder));
  const mark = join(folder, markFile);
  const owner = `${deployment}/${batchId}`;
  try {
    await namingFullDisk(folder, () => writeFile(mark, `${owner}\n`, { flag: 'wx' }));
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
    const found = (await readFile(mark, 'utf8')).trim();
    if (found === owner) return async () => undefined;
    const other = found === '' ? 'another batch' : `the batch ${found.replace(/^.*\//, '')}`;
    throw new UsageError(`--out: ${name} is the folder of ${other}. Choose another folder.`, { cause: error });
  }
  return async () => {
    await rm(mark, { force: true });
    if (!wasThere) await rmdir(folder).catch(() => undefined);
  };
}

/** The batch that the first line of a results file names; undefined if there is no such file. */
async function batchOf(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const head = await file?.read(Buffer.alloc(headBytes), 0, headBytes);
    return /^\{"batchId":"([a-z0-9-]+)"/.exec(head?.buffer.toString('utf8', 0, head.bytesRead) ?? '')?.[1];
  } finally {
    await file?.close();
  }
}

/**
 * Creates the default folder for results. A link in its place may come from the code of a project and lead anywhere, so
 * it is refused.
 * @throws UsageError if something else is in its place
 */
async function makeDefaultFolder(cwd: string, name: string): Promise<void> {
  const folder = resolve(cwd, name);
  await namingFullDisk(folder, () => makeFolderOf(join(folder, 'file'), cwd)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== undefined) throw cause;
    throw new UsageError(`${folder} is a link or a file. Remove it, or choose another folder with --out.`, { cause });
  });
}
