/** The table of tiers in CONTRIBUTING.md holds each folder of tests once, with the project that runs it. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../../vitest.config.js';
import { readSource } from './source-imports.js';

interface Project {
  readonly test: { readonly name: string; readonly include: readonly string[]; readonly retry?: number };
}

const projects = (config.test?.projects ?? []) as readonly Project[];
const rows = [...readSource('CONTRIBUTING.md').matchAll(/^\| `(test\/[^`]+)` \| `([\w-]+)` \| (gate|all) \|/gm)].map(
  ([, folder = '', project = '', tier = '']) => ({ folder, project, tier }),
);
const patternOf = (folder: string) => `${folder}/**/*.test.ts`;

test('names each folder of each project once', () => {
  const included = projects.flatMap(({ test: { name, include } }) => include.map((pattern) => `${pattern} ${name}`));
  expect(rows.map(({ folder, project }) => `${patternOf(folder)} ${project}`).sort()).toEqual(included.sort());
});

test('has every test', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  expect(files.filter((file) => !rows.some(({ folder }) => `test/${file}`.startsWith(`${folder}/`)))).toEqual([]);
});

test('has one tier for each project, and the command of the gate runs those of the gate', () => {
  const projectsOf = (tier: string) => [
    ...new Set(rows.filter((row) => row.tier === tier).map(({ project }) => project)),
  ];
  expect(projectsOf('gate').filter((project) => projectsOf('all').includes(project))).toEqual([]);
  const { scripts } = JSON.parse(readSource('package.json')) as { readonly scripts: Record<string, string> };
  expect(scripts.test).toBe(
    `vitest run ${projectsOf('gate')
      .map((name) => `--project ${name}`)
      .join(' ')}`,
  );
});

test('repeats no failed test of the gate', () => {
  const repeated = projects.filter(({ test: { retry = 0 } }) => retry > 0).map(({ test: { name } }) => name);
  expect(repeated).toEqual(['slow']);
});
