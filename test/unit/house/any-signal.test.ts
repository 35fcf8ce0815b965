import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSource, repository } from './source-imports.js';

const folders = ['src', 'activities', 'workflows', 'bench', 'test', 'examples', 'scripts'];
/** Folders that builds write, which git ignores. */
const written = /(?:^|\/)(?:node_modules|\.out)\//;

const files = folders.flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[cm]?[jt]s$/.test(path) && !written.test(path))
    .map((path) => `${folder}/${path}`),
);

it('only one file calls `any` of AbortSignal, which on Node 20 loses a time limit', () => {
  const callers = files.filter((file) => /\bAbortSignal\s*\.any\(/.test(readSource(file)));
  expect(callers).toEqual(['src/os/any-signal.ts']);
});

it('no code combines a signal with `timeout` of AbortSignal, which Node 22 never lets go of then', () => {
  const both = files
    .filter((file) => !file.startsWith('test/unit/'))
    .filter((file) => /AbortSignal\.timeout\(/.test(readSource(file)) && /[aA]nySignal\(/.test(readSource(file)));
  expect(both).toEqual([]);
});
