import { expect, test } from 'vitest';
import { pathBelowHome, requireGoodPaths } from '../../../src/environments/secret-files.js';

test.each([
  ['.npmrc', '.npmrc'],
  ['./a//b/./c', 'a/b/c'],
  ['~/.ssh/id', '.ssh/id'],
  ['/home/sandbox/.aws/credentials', '.aws/credentials'],
  ['/home/../home/sandbox/x', 'x'],
  ['a/../b', 'b'],
  ['..hidden', '..hidden'],
])('%s is %s below the home', (path, expected) => {
  expect(pathBelowHome(path)).toBe(expected);
});

test.each([
  '..',
  '../x',
  'a/../../x',
  '~/../x',
  '~//etc/passwd',
  '/etc/passwd',
  '/home/sandbox',
  '/home/sandbox/',
  '/home/sandbox/..',
  '/home/sandboxes/x',
  '/home/sandbox/../other/x',
  '.',
  '../../../local-service/http/',
  '~/',
  'folder/',
  'a\0b',
  'x'.repeat(256),
  'long/'.repeat(250),
])('%j is no path of a secret file', (path) => {
  expect(pathBelowHome(path)).toBeUndefined();
  expect(() => requireGoodPaths([{ path, contents: 'secret-word' }])).toThrow(/^secretFiles\.0\.path: /);
});

test.each([[['a', './a']], [['a', '/home/sandbox/a']], [['a', 'a/b']], [['a/b/c', 'a']]])(
  '%j cannot all be files',
  (paths) => {
    const files = paths.map((path) => ({ path, contents: 'secret-word' }));
    expect(() => requireGoodPaths(files)).toThrow(/^secretFiles\.1\.path: (?!.*secret-word)/);
  },
);

test('files in the same folder are accepted', () => {
  const files = ['a/b', 'a/c', 'ab', 'd'].map((path) => ({ path, contents: '' }));
  expect(() => requireGoodPaths(files)).not.toThrow();
});
