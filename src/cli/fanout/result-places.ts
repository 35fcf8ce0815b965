/** Where the results of a batch are saved. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CliIo } from '../io.js';
import { requirePlaces } from '../output-places.js';
import { UsageError } from '../usage-error.js';
import type { WatchFanoutOptions } from './options.js';

/** Each line of a results file begins with the id of the batch. */
const headBytes = 200;

export function folderOf(batchId: string): string {
  return `fanout-${batchId}`;
}

/** @throws UsageError if the results cannot be saved where the options say, or would mix with those of another batch */
export async function requireResultPlaces(
  batchId: string,
  { out }: Pick<WatchFanoutOptions, 'out'>,
  { cwd }: Pick<CliIo, 'cwd'>,
): Promise<void> {
  const refusesLink = out === undefined;
  const folder = { option: '--out', path: out ?? folderOf(batchId), kind: 'folder', refusesLink } as const;
  await requirePlaces([folder], cwd);
  const other = await batchOf(resolve(cwd, folder.path, 'results.jsonl'));
  if (other === undefined || other === batchId) return;
  throw new UsageError(`--out: ${folder.path} has the results of the batch ${other}. Choose another folder.`);
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
