import { expect, it } from 'vitest';
import { collectProblem, leadsOutOfSandbox } from '../../../src/contract/remote-paths.js';

it.each(['..', '../x', 'a/../../x', './..', 'a//../..', 'a/./../..', '../a/b'])(
  '%s leads out of the sandbox',
  (path) => {
    expect(leadsOutOfSandbox(path)).toBe(true);
  },
);

it.each(['', '.', 'a', 'a/b/../..', 'a/..', '..a', 'a..', '...', 'a/./b/../../c', '/etc/../..', '/../x'])(
  '%s stays in the sandbox, or is absolute',
  (path) => {
    expect(leadsOutOfSandbox(path)).toBe(false);
  },
);

it.each([
  ['out/.', 'is a folder'],
  ['a/..', 'is a folder'],
  ['.', 'is a folder'],
  ['out/*.txt', 'is a pattern'],
  ['out/?*.txt', 'is a pattern'],
  ['{a,b}.txt', 'is a pattern'],
])('%s cannot be collected, because it %s', (path, why) => {
  expect(collectProblem(path)).toContain(why);
});

it.each([
  'out',
  'out/',
  './',
  '/',
  '.env',
  'a/..b',
  'app/[id]/page.tsx',
  '{a}.txt',
  'a:b.txt',
  'a b.txt',
  'a?b.txt',
  'page?id=1',
])('%s may name a file or a folder', (path) => {
  expect(collectProblem(path)).toBeUndefined();
});
