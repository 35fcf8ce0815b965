import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { grammarProblems } from './cli-grammar.js';
import { importRules } from './import-rules.js';
import { readSource, repository } from './source-imports.js';

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'deploy/kubernetes/README.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];

/** The headings of a page, as links name them. */
function headingsOf(path: string): string[] {
  return [...readSource(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(documents)('%s', (path) => {
  const text = readSource(path);

  test('has links to existing files and headings', () => {
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const missing = targets
      .filter((target) => !target.startsWith('https://'))
      .filter((target) => {
        const [file, heading] = target.split('#');
        const linked = file ? join(dirname(path), file) : path;
        if (!existsSync(join(repository, linked))) return true;
        return heading !== undefined && !headingsOf(linked).includes(heading);
      });
    expect(missing).toEqual([]);
  });

  test('names existing files of the repository', () => {
    const folders = /`((?:src|workflows|activities|test|docs|scripts|bench|examples|deploy)\/[\w./-]+)`/g;
    const missing = [...text.matchAll(folders)]
      .map(([, file = '']) => file)
      .filter((file) => !existsSync(join(repository, file)));
    expect(missing).toEqual([]);
  });

  test('shows existing commands', () => {
    const shown = [...text.matchAll(/(?:`|npx )sandflow ([a-z][^`\n]*)/g)].map(([, rest = '']) =>
      rest.trim().split(/\s+/),
    );
    expect(shown.flatMap(grammarProblems)).toEqual([]);
  });
});

test('the README has at most 200 lines', () => {
  expect(readSource('README.md').split('\n').length).toBeLessThanOrEqual(200);
});

test('the README has pictures for light and dark, which exist, are small, say what they show, and stay out of the package', () => {
  const pictures = [...readSource('README.md').matchAll(/<picture>.*?<\/picture>/gs)].map(([picture]) => picture);
  const files = pictures.flatMap((picture) =>
    [...picture.matchAll(/ (?:src|srcset)="([^"]*)"/g)].map(([, file]) => `${file}`),
  );
  expect(files.map((file) => /-(light|dark)\./.exec(file)?.[1])).toEqual(pictures.flatMap(() => ['dark', 'light']));
  const sizes = files.map((file) => statSync(join(repository, file)).size);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(400_000);
  expect(pictures.filter((picture) => !/ alt="[^"]{50,}"/.test(picture))).toEqual([]);
  const { files: shipped } = JSON.parse(readSource('package.json')) as { files: string[] };
  expect(files.filter((file) => shipped.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
  expect(readdirSync(join(repository, 'pictures')).sort()).toEqual(
    files.map((file) => file.replace('pictures/', '')).sort(),
  );
});

test.each(['docs/README.md', 'docs/llms.txt'])('%s lists every page', (index) => {
  const listed = [...readSource(index).matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, page]) => `docs/${page}`);
  const pages = documents.filter((path) => /^docs\/[\w-]+\.md$/.test(path) && path !== 'docs/README.md');
  expect(listed.sort()).toEqual(pages.sort());
});

test('CONTRIBUTING names existing scripts of the package', () => {
  const { scripts } = JSON.parse(readSource('package.json')) as { scripts: Record<string, string> };
  const named = [...readSource('CONTRIBUTING.md').matchAll(/`npm (?:run )?([a-z-]+)`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(3);
});

test('the architecture lists the parts of the import rules', () => {
  const listed = [
    ...readSource('docs/architecture.md').matchAll(/^\| `((?:src|workflows|activities)[\w./-]*?)\/?` \|/gm),
  ];
  const parts = importRules
    .map(({ part }) => part)
    .filter((part) => part.split('/').length <= 2 && part !== 'src/index.ts');
  expect(listed.map(([, part]) => part).sort()).toEqual(parts.sort());
});

test('only a page that stays in the clone starts commands with npx, which would ask the registry elsewhere', () => {
  const clone = ['README.md', 'CONTRIBUTING.md'];
  expect(documents.filter((path) => readSource(path).includes('npx sandflow') && !clone.includes(path))).toEqual([]);
  for (const path of clone) expect(readSource(path)).not.toMatch(/alias sandflow=.*npx/);
});

test('docs/architecture.md has every folder of src/cli', () => {
  const section = readSource('docs/architecture.md').split('\n## The command line\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) => names.split(', '));
  const folders = readdirSync(join(repository, 'src/cli'), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(rows.sort()).toEqual(folders.map(({ name }) => `\`${name}\``).sort());
});
