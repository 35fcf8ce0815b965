/** docs/local-service.md has the settings of the code, and docs/testing.md its routes, faults and seeds. */
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultSpecificationSchema } from '../../../local-service/src/faults/fault-specification.js';
import { localConfigSchema, readLocalConfig } from '../../../local-service/src/program/settings-file.js';
import { readSeedDocument, seedDocumentSchema } from '../../../local-service/src/state/seed-document.js';
import { ruleById } from '../../../local-service/test/conformance/rules/catalogue.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';
import { readSource, repository } from './source-imports.js';

const page = readSource('docs/local-service.md');

const testing = readSource('docs/testing.md');

/** The first two cells of each row of the table whose first column has this title, the first without code marks. */
function rowsOf(text: string, title: string): string[][] {
  const rows = text.split(`| ${title} |`)[1]?.split('\n\n')[0] ?? '';
  return [...rows.matchAll(/^\| `(.+?)` \| (.*?) ?\|/gm)].map(([, cell = '', next = '']) => [cell, next]);
}
const tableOf = (title: string): string[] => rowsOf(page, title).map(([cell = '']) => cell);
const marked = (cell = ''): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

test('docs/local-service.md lists each setting and each limit of local-service.json', () => {
  const { shape } = localConfigSchema;
  expect(tableOf('Setting').sort()).toEqual(Object.keys(shape).sort());
  expect(tableOf('Limit').sort()).toEqual(Object.keys(shape.limits.unwrap().shape).sort());
});

test('docs/local-service.md names what is not done by rules of the specification', () => {
  const rows = page.split('| What | Rules |')[1]?.split('\n\n')[0]?.trim().split('\n').slice(1) ?? [];
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) {
    const ids = [...(row.split('|').at(-2) ?? '').matchAll(/`(.+?)`/g)].map(([, id = '']) => id);
    expect(ids, row).not.toEqual([]);
    for (const id of ids) expect(ruleById(id), id).toBeDefined();
  }
});

test('the examples of docs/local-service.md are valid settings', async () => {
  const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, example = '']) => example);
  const path = join(await temporaryDirectory(), 'local-service.json');
  for (const example of examples) {
    await writeFile(path, example);
    expect(await readLocalConfig({ path, optional: false })).toMatchObject(JSON.parse(example));
  }
  expect(examples.length).toBeGreaterThan(0);
});

test('docs/testing.md lists each route below /_local', () => {
  const folder = 'local-service/src/http/admin';
  const routes = readdirSync(join(repository, folder)).flatMap((file) =>
    [...readSource(`${folder}/${file}`).matchAll(/server\.(\w+)(?:<.*?>)?\('(\/_local\/.*?)'/g)].map(
      ([, method = '', path]) => `${method.toUpperCase()} ${path}`,
    ),
  );
  expect(
    rowsOf(testing, 'Route')
      .map(([route]) => route)
      .sort(),
  ).toEqual(routes.sort());
  expect(routes.length).toBeGreaterThan(10);
});

test('docs/testing.md lists each kind of fault with its fields, and its example is one', () => {
  const always = ['kind', 'times', 'probability'];
  const kinds = faultSpecificationSchema.options.map(({ shape }) => [
    shape.kind.value,
    Object.keys(shape)
      .filter((field) => !always.includes(field))
      .sort(),
  ]);
  const documented = rowsOf(testing, 'Kind').map(([kind, fields]) => [kind, marked(fields).sort()]);
  expect(documented.sort()).toEqual(kinds.sort());
  const example = /-d '(\{.*?\})'/s.exec(testing)?.[1] ?? '';
  expect(faultSpecificationSchema.parse(JSON.parse(example)).kind).toBe('error');
});

test('docs/testing.md names each field of a seed, and its example is one', () => {
  const { shape } = seedDocumentSchema;
  const { version: _, environments: __, ...lists } = shape;
  const rows = new Map(rowsOf(testing, 'List').map(([list = '', fields]) => [list, marked(fields)]));
  expect([...rows.keys(), 'version'].sort()).toEqual(Object.keys(shape).sort());
  for (const [list, schema] of Object.entries(lists)) {
    const fields = Object.keys(schema.unwrap().element.shape);
    expect(rows.get(list), list).toEqual(expect.arrayContaining(fields));
  }
  const example = /```json\n(.*?)```/s.exec(testing)?.[1] ?? '';
  expect(readSeedDocument(JSON.parse(example)).teams).toHaveLength(1);
});
