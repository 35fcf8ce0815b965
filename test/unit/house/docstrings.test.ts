/** Every export of the package's entries, and every field of the interfaces among them, has a docstring. */
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { readSource } from './source-imports.js';

const entries = ['.', 'client', 'contract', 'worker', 'bridge', 'webhook', 'local-service'].map((entry) =>
  posix.join('src', entry, 'index.ts'),
);
const minShare = 0.95;

interface Named {
  readonly name: string;
  readonly isDocumented: boolean;
}

const reexports = /^export (?:type )?(?:\*|\{([^}]*)\}) from '(\.[^']+)\.js'/gm;
const declarations = /^export (?:async |abstract )?(interface|type|class|function\*?|const) (\w+)/gm;
const fields = /^ {2}(?:readonly )?(\w+)\??[(:<]/gm;

/** The declarations that `file` exports, by name and place; of a re-exported list, only those that it names. */
function exportsOf(file: string, names?: ReadonlySet<string>): Map<string, Named> {
  const text = readSource(file);
  const found = new Map<string, Named>();
  for (const [, list, path] of text.matchAll(reexports)) {
    const listed = list?.split(',').map((name) => name.trim().replace(/^type /, ''));
    const wanted = listed?.filter((name) => name !== '' && (names?.has(name) ?? true));
    if (wanted?.length === 0) continue;
    const from = posix.join(posix.dirname(file), `${path}.ts`);
    for (const [key, one] of exportsOf(from, wanted === undefined ? names : new Set(wanted))) found.set(key, one);
  }
  for (const { index, 1: kind, 2: name = '' } of text.matchAll(declarations)) {
    if (names !== undefined && !names.has(name)) continue;
    found.set(`${file}:${name}`, { name, isDocumented: isDocumented(text, index) });
    if (kind !== 'interface') continue;
    for (const field of fieldsOf(text, index, name)) found.set(`${file}:${field.name}`, field);
  }
  return found;
}

function fieldsOf(text: string, at: number, name: string): Named[] {
  const end = text.indexOf('\n}', at);
  return [...text.slice(0, end).matchAll(fields)]
    .filter(({ index }) => index > at)
    .map(({ index, 1: field }) => ({ name: `${name}.${field}`, isDocumented: isDocumented(text, index) }));
}

function isDocumented(text: string, at: number): boolean {
  return /\*\/\n\s*$/.test(text.slice(Math.max(0, at - 20), at));
}

test('at least 95 % of the exports, and of the fields of exported interfaces, have a docstring', () => {
  const all = [...new Map(entries.flatMap((entry) => [...exportsOf(entry)])).values()];
  const exported = all.filter(({ name }) => !name.includes('.'));
  const members = all.filter(({ name }) => name.includes('.'));
  expect(exported.length).toBeGreaterThan(350);
  expect(members.length).toBeGreaterThan(600);
  for (const group of [exported, members]) {
    const missing = group.filter((one) => !one.isDocumented).map(({ name }) => name);
    expect(1 - missing.length / group.length, `without a docstring: ${missing.join(', ')}`).toBeGreaterThan(minShare);
  }
});
