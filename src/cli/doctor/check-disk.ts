/** Checks that the disks of this installation have room. */
import type { Config } from '../../config.js';
import { freeSpaceOf, freeText, fullDiskText, writtenFolders } from '../connect/full-disk.js';
import { type Check, failed, ok, skipped, warning } from './check.js';

/** The local service ends the sandbox that writes most when less than this is left, in bytes. */
const reserveBytes = 2 * 1024 ** 3;
const mend = 'Free some space, or set SANDFLOW_HOME (and SANDFLOW_RESULTS) to a folder on another disk.';

export async function checkDisk(
  config: Pick<Config, 'home' | 'results' | 'temporal' | 'sandboxService'>,
): Promise<Check> {
  const full = await fullDiskText(config);
  if (full !== undefined) return failed('disk', full, mend);
  const spaces = await Promise.all(writtenFolders(config).map(({ path }) => freeSpaceOf(path)));
  const [first] = spaces.flatMap((space) => space ?? []);
  if (first === undefined) return skipped('disk', 'The free space cannot be read.');
  const low = spaces.find((space) => space && space.bytes < reserveBytes);
  if (!low || config.sandboxService) return ok('disk', `The disk of ${first.path} has ${freeText(first)}.`);
  const message = `The disk of ${low.path} has ${freeText(low)}; below 2 GiB the local service ends sandboxes that write.`;
  return warning('disk', message, mend);
}
