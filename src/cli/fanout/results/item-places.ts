/** Where the files of an item are saved below its folder: at their remote paths, or where `--get` places them. */
import { isAbsolute, posix } from 'node:path';
import { leadsOutOfSandbox } from '../../../contract/remote-paths.js';
import { splitPair } from '../../../texts/path-pair.js';
import { pathInside } from '../../place-below.js';
import { parseGetPair } from '../../settings/file-pairs.js';
import { UsageError } from '../../usage-error.js';

/** For each remote path of `--get`, the path below the folder of the item. */
export type ItemGets = ReadonlyMap<string, string>;

/**
 * Reads every `--get` of a batch. Without a local path, a file keeps its remote path.
 * @throws UsageError also if two files would get one place
 */
export function parseItemGets(texts: readonly string[]): ItemGets {
  const gets = new Map<string, string>();
  for (const text of texts) {
    const { remote, local } = parseGetPair(text);
    const place = splitPair(text)[1] === undefined ? remote : placeFor(remote, local);
    const other = gets.get(remote) ?? place;
    if (other !== place) {
      throw new UsageError(`--get: ${remote} would be saved as ${other} and as ${place}. Name it once.`);
    }
    gets.set(remote, place);
  }
  const placeOf = createItemPlaces(gets);
  for (const remote of gets.keys()) {
    try {
      placeOf(remote);
    } catch (cause) {
      throw new UsageError(`--get: ${(cause as Error).message}`, { cause });
    }
  }
  return gets;
}

function placeFor(remote: string, local: string): string {
  if (isAbsolute(local) || leadsOutOfSandbox(local)) {
    const why = `--get: ${local} leads out of the folder of the item. Use a relative path without "..", like report.csv.`;
    throw new UsageError(why);
  }
  const place = posix.normalize(local);
  return place === '.' ? posix.basename(remote) : place;
}

/**
 * Returns a function that names the place of each file of one item, below the folder of the item. The function throws
 * if another file of the item has this place, or if one of them would be a folder of the other.
 */
export function createItemPlaces(gets: ItemGets): (remote: string) => string {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  return (remote) => {
    const place = pathInside(gets.get(remote) ?? remote);
    const other = files.get(place) ?? remote;
    if (posix.normalize(other) !== posix.normalize(remote)) {
      throw new Error(`${other} and ${remote} would both be saved as ${place}. Give each its own local path.`);
    }
    const above = foldersAbove(place);
    const both = folders.has(place) ? place : above.find((folder) => files.has(folder));
    if (both !== undefined) {
      const inTheWay = folders.get(place) ?? files.get(both);
      throw new Error(`${inTheWay} and ${remote}: ${both} would be a file and a folder. Give each its own local path.`);
    }
    files.set(place, remote);
    for (const folder of above) folders.set(folder, remote);
    return place;
  };
}

function foldersAbove(place: string): string[] {
  const folder = posix.dirname(place);
  return folder === '.' ? [] : [...foldersAbove(folder), folder];
}
