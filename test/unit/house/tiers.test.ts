/** The tables of tiers in CONTRIBUTING.md hold each folder of tests once, with the project that runs it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import configOfService from '../../../local-service/vitest.config.js';
import config from '../../../vitest.config.js';
import { readSource, repository } from './source-imports.js';

interface Project {
  readonly test: { readonly name: string; readonly include: readonly string[]; readonly retry?: number };
}

const rows = [
  ...readSource('CONTRIBUTING.md').matchAll(/^\| `((?:local-service\/)?test\/[^`]+)` \| `([\w-]+)` \| (gate|all) \|/gm),
].map(([, folder = '', project = '', tier = '']) => ({ folder, project, tier }));

describe.each([
  ['sandflow', '', config],
  ['the local service', 'local-service/', configOfService],
])('of the tests of %s', (_, home, { test: { projects: configured = [] } = {} }) => {
  const projects = configured as readonly Project[];
  const own = rows
    .filter(({ folder }) => folder.startsWith(`${home}test/`))
    .map((row) => ({ ...row, folder: row.folder.slice(home.length) }));

  test('the table names each folder of each project once', () => {
    const included = projects.flatMap(({ test: { name, include } }) => include.map((pattern) => `${pattern} ${name}`));
    expect(own.map(({ folder, project }) => `${folder}/**/*.test.ts ${project}`).sort()).toEqual(included.sort());
  });

  test('the table has every test', () => {
    const files = readdirSync(join(repository, home, 'test'), { recursive: true, encoding: 'utf8' });
    const tests = files.filter((name) => name.endsWith('.test.ts'));
    expect(tests.filter((file) => !own.some(({ folder }) => `test/${file}`.startsWith(`${folder}/`)))).toEqual([]);
  });

  test('each project has one tier, and the command of the gate runs those of the gate', () => {
    const projectsOf = (tier: string) => [
      ...new Set(own.filter((row) => row.tier === tier).map(({ project }) => project)),
    ];
    expect(projectsOf('gate').filter((project) => projectsOf('all').includes(project))).toEqual([]);
    const { scripts } = JSON.parse(readSource(`${home}package.json`)) as { readonly scripts: Record<string, string> };
    const gate = projectsOf('gate').map((name) => `--project ${name}`);
    expect(scripts.test).toBe(`vitest run ${gate.join(' ')}`);
  });

  test('no failed test of the gate is repeated', () => {
    const repeated = projects.filter(({ test: { retry = 0 } }) => retry > 0).map(({ test: { name } }) => name);
    expect(repeated).toEqual(['slow']);
  });
});
