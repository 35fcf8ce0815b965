/** docs/local-service.md has the settings of the code. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localConfigSchema, readLocalConfig } from '../../../src/cli/serve/local-config.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';
import { readSource } from './source-imports.js';

const page = readSource('docs/local-service.md');

/** The first cells of the table whose first column has this title, without code marks. */
function tableOf(title: string): string[] {
  const rows = page.split(`| ${title} |`)[1]?.split('\n\n')[0] ?? '';
  return [...rows.matchAll(/^\| `(.+?)` \|/gm)].map(([, cell = '']) => cell);
}

test('docs/local-service.md lists each setting and each limit of local-service.json', () => {
  const { shape } = localConfigSchema;
  expect(tableOf('Setting').sort()).toEqual(Object.keys(shape).sort());
  expect(tableOf('Limit').sort()).toEqual(Object.keys(shape.limits.unwrap().shape).sort());
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
