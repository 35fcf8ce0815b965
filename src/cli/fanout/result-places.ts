/** Where the results of a batch are saved. */
import type { CliIo } from '../io.js';
import { requirePlaces } from '../output-places.js';
import type { WatchFanoutOptions } from './options.js';

/** Default folder for the results of a batch. */
export function folderOf(batchId: string): string {
  return `fanout-${batchId}`;
}

/** @throws UsageError if the results cannot be saved where the options say */
export function requireResultPlaces(
  batchId: string,
  { out, report }: Pick<WatchFanoutOptions, 'out' | 'report'>,
  { cwd }: Pick<CliIo, 'cwd'>,
): Promise<void> {
  const refusesLink = out === undefined;
  const folder = { option: '--out', path: out ?? folderOf(batchId), kind: 'folder', refusesLink } as const;
  const file = report === undefined ? [] : [{ option: '--report', path: report, kind: 'file' } as const];
  return requirePlaces([folder, ...file], cwd);
}
