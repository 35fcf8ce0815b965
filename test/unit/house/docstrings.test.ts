/** Every export of the library, and every option, has a docstring. Elsewhere, only what a name does not say needs one. */
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { readSource } from './source-imports.js';

/** Interfaces whose fields a caller writes. */
const options = /(?:Options|Input|Dependencies|Address)$/;

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
    if (kind !== 'interface' || !options.test(name)) continue;
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

function isField({ name }: Named): boolean {
  return name.includes('.');
}

function isDocumented(text: string, at: number): boolean {
  return /\*\/\n(?:\/\/ .*\n)?\s*$/.test(text.slice(Math.max(0, at - 140), at));
}

test('every export of the library, and every option, has a docstring', () => {
  const library = [...exportsOf('src/index.ts').values()];
  const all = [...library, ...[...exportsOf('src/local-service/index.ts').values()].filter(isField)];
  expect(all.length).toBeGreaterThan(400);
  expect(all.filter((one) => !one.isDocumented).map(({ name }) => name)).toEqual([]);
});
