import { describe, expect, test } from 'vitest';
import { importsIn, readSource, sourceFiles } from './source-imports.js';

type Arrow = readonly [from: string, to: string];

/** Imports of our own files, types included. */
const imports = sourceFiles('src', 'activities', 'workflows', 'local-service/src').flatMap((file) =>
  importsIn(file, readSource(file)).flatMap(({ target, isOwn }) => (isOwn ? [[file, target] as const] : [])),
);

/** The imports between the folders, or single files, directly below `root`. */
function arrowsIn(root: string): Arrow[] {
  const placeOf = (file: string) =>
    file.startsWith(`${root}/`) ? file.slice(root.length + 1).split('/')[0] : undefined;
  return imports.flatMap(([file, target]) => {
    const [from, to] = [placeOf(file), placeOf(target)];
    return from && to && from !== to ? [[from, to] as const] : [];
  });
}

/** Removes whatever imports nothing that is left, until only cycles and their importers remain. */
function inCycles(arrows: readonly Arrow[]): string[] {
  let left = [...arrows];
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    const importers = new Set(left.map(([from]) => from));
    left = left.filter(([, to]) => importers.has(to));
  }
  return [...new Set(left.map(([from, to]) => `${from} -> ${to}`))];
}

/** Pairs that import each other. */
function twoWayPairs(arrows: readonly Arrow[]): string[] {
  const known = new Set(arrows.map((arrow) => arrow.join(' ')));
  const pairs = arrows.filter(([from, to]) => from < to && known.has(`${to} ${from}`));
  return [...new Set(pairs.map((pair) => pair.join(' and ')))].sort();
}

describe('the folders import each other in one direction, types included', () => {
  test.each(['workflows', 'src', 'local-service/src', 'src/workflow-client'])('in %s', (root) => {
    expect(arrowsIn(root)).not.toEqual([]);
    expect(inCycles(arrowsIn(root))).toEqual([]);
  });

  test.each(['src/cli', 'activities'])('in %s, between any two folders', (root) => {
    expect(twoWayPairs(arrowsIn(root))).toEqual([]);
  });
});
