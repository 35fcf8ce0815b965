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
  'SKILL.md',
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

describe('the README', () => {
  const text = readSource('README.md');

  test('has at most 90 lines, for two minutes, with one picture', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(90);
    expect(text.match(/<picture>/g)).toHaveLength(1);
  });

  test('starts a job in twelve lines', () => {
    const code = /```ts\n(.*?)```/s.exec(text)?.[1] ?? '';
    expect(code).toContain('startJob(');
    expect(code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(12);
  });

  test('has the fault table of the measurements', () => {
    const tableOf = (page: string) => /^\| Fault \|.*\n(?:\|.*\n)+/m.exec(readSource(page))?.[0] ?? '';
    expect(tableOf('README.md').split('\n').length).toBeGreaterThan(6);
    expect(tableOf('README.md')).toBe(tableOf('docs/measurements.md'));
  });

  test('gives only commands that a clone has', () => {
    const { scripts } = JSON.parse(readSource('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/npm (?!ci\b|install --global)(?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(named.sort()).toEqual(['bench:peers', 'test']);
    for (const [, file = ''] of text.matchAll(/sandflow run (\S+\.md)/g)) {
      expect(existsSync(join(repository, file)), file).toBe(true);
    }
  });
});

test('pictures of the pages are for light and dark, exist, are small, say what they show, and stay out of the package', () => {
  const pictures = ['README.md', 'docs/tour.md', 'docs/monitoring.md', 'docs/traces.md'].flatMap((page) =>
    [...readSource(page).matchAll(/<picture>.*?<\/picture>/gs)].map(([picture]) => ({
      picture,
      folder: dirname(page),
    })),
  );
  const files = pictures.flatMap(({ picture, folder }) =>
    [...picture.matchAll(/ (?:src|srcset)="([^"]*)"/g)].map(([, file]) => join(folder, `${file}`)),
  );
  expect(files.map((file) => /-(light|dark)\./.exec(file)?.[1])).toEqual(pictures.flatMap(() => ['dark', 'light']));
  const sizes = files.map((file) => statSync(join(repository, file)).size);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(400_000);
  expect(pictures.filter(({ picture }) => !/ alt="[^"]{50,}"/.test(picture))).toEqual([]);
  const { files: shipped } = JSON.parse(readSource('package.json')) as { files: string[] };
  expect(files.filter((file) => shipped.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
  expect(readdirSync(join(repository, 'pictures')).sort()).toEqual(
    files.map((file) => file.replace('pictures/', '')).sort(),
  );
});

test.each(['docs/README.md', 'docs/llms.txt'])('%s lists every page', (index) => {
  const text = readSource(index);
  const listed = [...text.matchAll(/\]\(((?:maintainers\/)?[\w-]+\.md)\)/g)].map(([, page]) => `docs/${page}`);
  const pages = documents.filter((path) => /^docs\/(?:maintainers\/)?[\w-]+\.md$/.test(path));
  expect(listed.toSorted()).toEqual(pages.filter((path) => path !== 'docs/README.md').sort());
  // Pages for users come first.
  const firstForMaintainers = listed.findIndex((path) => path.startsWith('docs/maintainers/'));
  expect(listed.slice(firstForMaintainers).filter((path) => !path.startsWith('docs/maintainers/'))).toEqual([]);
  expect(text).toContain('](../SKILL.md)');
});

test('links of the pages in the package lead to files of the package, or to those of a clone that are named here', () => {
  const { files } = JSON.parse(readSource('package.json')) as { files: string[] };
  const isShipped = (path: string) =>
    ['LICENSE', 'README.md'].includes(path) || files.some((file) => path === file || path.startsWith(`${file}/`));
  const ofTheClone = ['CONTRIBUTING.md', 'deploy/compose', 'deploy/kubernetes/README.md', 'docker-compose.yml'];
  const dangling = documents.filter(isShipped).flatMap((path) =>
    [...readSource(path).matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !target.startsWith('https://'))
      .map((target) => join(dirname(path), target))
      .filter((target) => !isShipped(target) && !ofTheClone.includes(target))
      .map((target) => `${path}: ${target}`),
  );
  expect(dangling).toEqual([]);
});

test('docs/compare.md says when it was read, and has a source for every project', () => {
  const text = readSource('docs/compare.md');
  expect(text).toMatch(/^Read on 20\d\d-\d\d-\d\d, /m);
  const [, ...sections] = text.split(/^## /m);
  expect(sections.length).toBeGreaterThanOrEqual(5);
  expect(sections.filter((section) => !section.includes('](https://'))).toEqual([]);
  const rows = text.split('\n').filter((line) => line.startsWith('| ['));
  expect(rows.filter((row) => !row.includes('](https://'))).toEqual([]);
  // Each of the four says where it is better.
  expect(text.match(/^- \*\*Better:\*\*/gm)).toHaveLength(4);
});

test('SKILL.md has the front matter of the Agent Skills format', () => {
  const front = /^---\n(.*?)\n---\n/s.exec(readSource('SKILL.md'))?.[1] ?? '';
  const fields = Object.fromEntries(front.split('\n').map((line) => line.split(/: (.*)/s)));
  const { name } = JSON.parse(readSource('package.json')) as { name: string };
  expect(fields.name).toBe(name);
  expect(fields.description.length).toBeGreaterThan(100);
  expect(fields.description.length).toBeLessThanOrEqual(1_024);
});

test('CONTRIBUTING has a row for every library', () => {
  type Versions = Readonly<Record<string, string>>;
  const [main, ofService] = ['package.json', 'local-service/package.json'].map(
    (path) => JSON.parse(readSource(path)) as { readonly dependencies: Versions; readonly devDependencies: Versions },
  );
  const dependencies = { ...main?.dependencies, ...ofService?.dependencies };
  const devDependencies = { ...main?.devDependencies, ...ofService?.devDependencies };
  const section = readSource('CONTRIBUTING.md').split('\n## Libraries\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)` \| \S/gm)].map(([, name = '']) => name);
  const libraries = Object.keys(dependencies).filter((name) => !name.startsWith('@temporalio/'));
  // The build bundles the others.
  expect(rows.filter((name) => name in dependencies || !(name in devDependencies)).sort()).toEqual(libraries.sort());
});

test('CONTRIBUTING names existing scripts of the package', () => {
  const { scripts } = JSON.parse(readSource('package.json')) as { scripts: Record<string, string> };
  const named = [...readSource('CONTRIBUTING.md').matchAll(/`npm (?:run )?([a-z-]+)`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(3);
});

test('the architecture lists the parts of the import rules', () => {
  const listed = [
    ...readSource('docs/architecture.md').matchAll(
      /^\| `((?:src|workflows|activities|local-service\/src)[\w./-]*?)\/?` \|/gm,
    ),
  ];
  const parts = importRules
    .map(({ part }) => part)
    .filter((part) => part.split('/').length <= 2 && part !== 'src/index.ts');
  expect(listed.map(([, part]) => part).sort()).toEqual(parts.sort());
});

test('only a page that stays in the clone starts commands with npx, which would ask the registry elsewhere', () => {
  const clone = ['README.md', 'CONTRIBUTING.md', 'docs/maintainers/long-tests.md'];
  expect(documents.filter((path) => readSource(path).includes('npx sandflow') && !clone.includes(path))).toEqual([]);
});

test('docs/architecture.md has every folder of src/cli', () => {
  const section = readSource('docs/architecture.md').split('\n## The command line\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) => names.split(', '));
  const folders = readdirSync(join(repository, 'src/cli'), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(rows.sort()).toEqual(folders.map(({ name }) => `\`${name}\``).sort());
});
