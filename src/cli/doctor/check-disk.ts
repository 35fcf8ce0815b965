/** Checks that the disks of this installation have room. */
import type { Config } from '../../config.js';
import { freeSpaceOf, freeText, isFull, writtenFolders } from '../connect/full-disk.js';
import { type Check, failed, ok, skipped, warning } from './check.js';

/** The local service ends the sandbox that writes most when less than this is left, in bytes. */
const reserveBytes = 2 * 1024 ** 3;
const mend = 'Free some space, or set SANDFLOW_HOME (and SANDFLOW_RESULTS) to a folder on another disk.';

export async function checkDisk(
  config: Pick<Config, 'home' | 'results' | 'temporal' | 'sandboxService'>,
): Promise<Check> {
  let least: string | undefined;
  for (const { path, what } of writtenFolders(config)) {
    const space = await freeSpaceOf(path);
    if (!space) continue;
    if (isFull(space)) return failed('disk', `The disk is full (${freeText(space)}): ${what} cannot be written.`, mend);
    if (!config.sandboxService && space.bytes < reserveBytes) {
      const message = `The disk of ${path} has ${freeText(space)}; below 2 GiB the local service ends sandboxes that write.`;
      return warning('disk', message, mend);
    }
    least ??= `The disk of ${path} has ${freeText(space)}.`;
  }
  return least === undefined ? skipped('disk', 'The free space cannot be read.') : ok('disk', least);
}
