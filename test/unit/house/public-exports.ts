/** Reads what an entry of the package exports from the text of its files. The formatter guarantees the format that this relies on. */
import { posix } from 'node:path';
import { readSource } from './source-imports.js';

/** Interfaces whose fields a caller writes. */
const options = /(?:Options|Input|Dependencies|Address)$/;

export interface PublicExport {
  /** Of a field: that of its interface, a dot, and its own. */
  readonly name: string;
  readonly kind: 'interface' | 'type' | 'class' | 'function' | 'const' | 'field';
  /** Empty if there is none. */
  readonly docstring: string;
}

const reexports = /^export (?:type )?(?:\*|\{([^}]*)\}) from '(\.[^']+)\.js'/gm;
const declarations = /^export (?:async |abstract )?(interface|type|class|function|const)\*? (\w+)/gm;
const fields = /^ {2}(?:readonly )?(\w+)\??[(:<]/gm;

/**
 * The declarations that `file` exports, and the fields of options among them, by name and place; of a re-exported list,
 * only those that it names.
 */
export function exportsOf(file: string, names?: ReadonlySet<string>): Map<string, PublicExport> {
  const text = readSource(file);
  const found = new Map<string, PublicExport>();
  for (const [, list, path] of text.matchAll(reexports)) {
    const listed = list?.split(',').map((name) => name.trim().replace(/^type /, ''));
    const wanted = listed?.filter((name) => name !== '' && (names?.has(name) ?? true));
    if (wanted?.length === 0) continue;
    const from = posix.join(posix.dirname(file), `${path}.ts`);
    for (const [key, one] of exportsOf(from, wanted === undefined ? names : new Set(wanted))) found.set(key, one);
  }
  for (const { index, 1: kind, 2: name = '' } of text.matchAll(declarations)) {
    if (names !== undefined && !names.has(name)) continue;
    found.set(`${file}:${name}`, {
      name,
      kind: kind as PublicExport['kind'],
      docstring: docstringBefore(text, index),
    });
    if (kind !== 'interface' || !options.test(name)) continue;
    for (const field of fieldsOf(text, index, name)) found.set(`${file}:${field.name}`, field);
  }
  return found;
}

function fieldsOf(text: string, at: number, name: string): PublicExport[] {
  const end = text.indexOf('\n}', at);
  return [...text.slice(0, end).matchAll(fields)]
    .filter(({ index }) => index > at)
    .map(({ index, 1: field }) => ({
      name: `${name}.${field}`,
      kind: 'field',
      docstring: docstringBefore(text, index),
    }));
}

/** A comment for the linter may stand between. */
function docstringBefore(text: string, at: number): string {
  const before = text.slice(0, at);
  return /\*\/\n(?:\/\/ .*\n)?\s*$/.test(before) ? before.slice(before.lastIndexOf('/**')) : '';
}
