import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { grammarProblems } from './cli-grammar.js';
import { importRules } from './import-rules.js';
import { readSource, repository } from './source-imports.js';

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];

describe.each(documents)('%s', (path) => {
  const text = readSource(path);

  test('links to what is there', () => {
    const targets = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = '']) => target);
    const missing = targets
      .filter((target) => !target.startsWith('https://'))
      .filter((target) => !existsSync(join(repository, dirname(path), target)));
    expect(missing).toEqual([]);
  });

  test('names files of the repository that are there', () => {
    const folders = /`((?:src|workflows|activities|test|docs|scripts|bench|examples)\/[\w./-]+)`/g;
    const missing = [...text.matchAll(folders)]
      .map(([, file = '']) => file)
      .filter((file) => !existsSync(join(repository, file)));
    expect(missing).toEqual([]);
  });

  test('shows commands that exist', () => {
    const shown = [...text.matchAll(/(?:`|npx )sandflow ([a-z][^`\n]*)/g)].map(([, rest = '']) =>
      rest.trim().split(/\s+/),
    );
    expect(shown.flatMap(grammarProblems)).toEqual([]);
  });
});

test('CONTRIBUTING names scripts of the package', () => {
  const { scripts } = JSON.parse(readSource('package.json')) as { scripts: Record<string, string> };
  const named = [...readSource('CONTRIBUTING.md').matchAll(/`npm (?:run )?([a-z-]+)`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(3);
});

test('the architecture lists the parts that import rules know', () => {
  const listed = [
    ...readSource('docs/architecture.md').matchAll(/^\| `((?:src|workflows|activities)[\w./-]*?)\/?` \|/gm),
  ];
  const parts = importRules
    .map(({ part }) => part)
    .filter((part) => part.split('/').length <= 2 && part !== 'src/index.ts');
  expect(listed.map(([, part]) => part).sort()).toEqual(parts.sort());
});
