import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSource, repository } from './source-imports.js';

const page = readSource('docs/promises.md');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| **'))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()));
const named = rows.flatMap(([promise = '', , , tests = '']) =>
  tests.split('<br>').map((test) => {
    const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(test.trim()) ?? [];
    return { promise, file, title };
  }),
);

/** The titles of tests and groups: strings before a function or settings. */
function titlesOf(file: string): string[] {
  return [...readSource(file).matchAll(/(['"`])((?:\\.|(?!\1)[^\n])*)\1,\s*(?:async\b|\(|\{)/g)].map(
    ([, , title = '']) => title,
  );
}

describe('docs/promises.md', () => {
  test('has a limit and a test for every promise', () => {
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.filter((cells) => cells.length !== 4 || cells[2] === '' || cells[3] === '')).toEqual([]);
  });

  test.each(named.map((one) => [`${one.file}: ${one.title}`, one] as const))('%s is there', (_, { file, title }) => {
    expect(existsSync(join(repository, file)), file).toBe(true);
    expect(titlesOf(file).some((one) => one.includes(title))).toBe(true);
  });

  test('names a test of the gate for every promise', () => {
    const rest = /^(?:local-service\/)?test\/(?:extended|slow|conformance|service)\//;
    const inGate = new Set(named.filter(({ file }) => !rest.test(file)).map(({ promise }) => promise));
    expect(rows.map(([promise = '']) => promise).filter((promise) => !inGate.has(promise))).toEqual([]);
  });

  test('has the promises of the README’s headline, which links to it', () => {
    const headline = readSource('README.md').split('## Two commands')[0] ?? '';
    expect(headline).toContain('docs/promises.md');
    for (const promise of ['no second sandbox', 'no agent twice', 'named outcome']) expect(headline).toContain(promise);
    const text = page.toLowerCase();
    for (const promise of ['no second sandbox', 'no prompt twice', 'named outcome']) expect(text).toContain(promise);
  });
});
