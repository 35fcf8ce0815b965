import { describe, expect, test } from 'vitest';
import { importsIn, readSource, sourceFiles } from './source-imports.js';

const files = sourceFiles('src', 'activities', 'workflows');
/** Imports of our own files, types included. */
const imports = files.flatMap((file) =>
  importsIn(file, readSource(file)).flatMap(({ target, isOwn }) => (isOwn ? [[file, target] as const] : [])),
);

/** The folders, or single files, directly below `root` that import each other. */
function twoWayPairs(root: string): string[] {
  const placeOf = (file: string) =>
    file.startsWith(`${root}/`) ? file.slice(root.length + 1).split('/')[0] : undefined;
  const arrows = new Set(
    imports.flatMap(([file, target]) => {
      const [from, to] = [placeOf(file), placeOf(target)];
      return from && to && from !== to ? [`${from} ${to}`] : [];
    }),
  );
  return [...arrows]
    .map((arrow) => arrow.split(' '))
    .filter(([from = '', to = '']) => from < to && arrows.has(`${to} ${from}`))
    .map((pair) => pair.join(' and '))
    .sort();
}

describe('the folders import each other in one direction', () => {
  test.each([
    ['workflows', []],
    ['src', []],
    ['src/local-service', []],
    ['src/workflow-client', []],
    ['src/cli', ['connect and output', 'fanout and jobs', 'local and serve', 'output and transcript']],
    ['activities', ['prompt and sandbox', 'retry and sandbox']],
  ])('in %s, but for known pairs: %j', (root, known) => {
    expect(twoWayPairs(root)).toEqual(known);
  });
});
