/**
 * Finds files that this user may read and others may not, so that they can be hidden. Otherwise the sandboxes of a
 * service that runs as root could read passwords, keys of the machine and certificates.
 */
import { accessSync, constants, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

const othersRead = 0o004;
const othersEnter = 0o005;

/** Bounds the search: installed programs can be many and deeply nested, but secrets are kept near the top. */
const maxDepth = 6;

/** Returns files and whole folders. Links are not followed: a target is found at its own place. */
export function findHidden(folder: string, depth = 1): string[] {
  if (depth > maxDepth) return [];
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // If the service cannot read the folder, sandboxes cannot read it either.
    return [];
  }
  const found: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const stats = statsOf(path);
    if (!stats || stats.isSymbolicLink()) continue;
    if (isForOthers(stats)) {
      if (stats.isDirectory()) found.push(...findHidden(path, depth + 1));
    } else if (isReadable(path)) found.push(path);
  }
  return found;
}

export function kindOf(path: string): 'file' | 'folder' | 'none' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'none';
  }
}

export function isForOthers(stats: Stats): boolean {
  const needed = stats.isDirectory() ? othersEnter : othersRead;
  return (stats.mode & needed) === needed;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
