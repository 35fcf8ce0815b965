/** Every folder and link that a path leads through: who may change one of them says where the path leads. */
import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { isAbsolute, join, parse, sep } from 'node:path';

/** The most links that Linux follows in one path. */
const maxLinks = 40;

export interface PathStep {
  readonly path: string;
  readonly stats: Stats;
}

export interface Walk {
  /** From the root on, links and what they lead through included. */
  readonly steps: readonly PathStep[];
  /** The path without links; undefined if a part of it does not exist. */
  readonly real: string | undefined;
}

/**
 * @param path absolute
 * @throws what looking throws, save that a missing part ends the walk
 */
export async function walkPath(path: string): Promise<Walk> {
  const { root } = parse(path);
  const steps: PathStep[] = [{ path: root, stats: await lstat(root) }];
  const rest = partsOf(path.slice(root.length));
  let at = root;
  for (let links = 0; rest.length > 0; ) {
    const next = join(at, rest.shift() ?? '');
    const stats = await lstat(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!stats) return { steps, real: undefined };
    steps.push({ path: next, stats });
    if (!stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > maxLinks) throw new Error(`${path} leads through too many links.`);
    const target = await readlink(next);
    if (isAbsolute(target)) at = parse(target).root;
    rest.unshift(...partsOf(target));
  }
  return { steps, real: at };
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}
