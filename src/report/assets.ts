/**
 * The style and the script of the page, from the files in `browser/`.
 *
 * They are files of their own, and not text in TypeScript, so that they are linted, formatted and type-checked
 * (`browser/tsconfig.json`) as what they are: CSS, and JavaScript for browsers. They lie beside this file in the sources; the
 * build copies them beside the compiled one. The script's modules become one inline script: `import` lines go, since
 * everything is in one scope, and so does `export`. Names must therefore be unique over all of them; where two collide, the
 * script does not parse, and every browser test fails.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const folder = new URL('./browser/', import.meta.url);
const importLine = /^import \{[^}]*\} from '(\.\/[\w-]+\.js)';\n/gm;
const exportWord = /^export (?=(?:async )?function |const |let |class )/gm;

export function styleText(): string {
  return readFileSync(new URL('report.css', folder), 'utf8');
}

/** All modules that `main.js` needs, each after those that it imports. */
export function scriptText(): string {
  const texts = new Map<string, string>();
  const add = (name: string): void => {
    if (texts.has(name)) return;
    const text = readFileSync(new URL(name, folder), 'utf8');
    texts.set(name, '');
    for (const [, specifier = ''] of text.matchAll(importLine)) add(posix.join('.', specifier));
    // Taken out and put in again, so that it comes after what it imports.
    texts.delete(name);
    texts.set(name, text.replace(importLine, '').replace(exportWord, ''));
  };
  add('main.js');
  return [...texts.values()].join('\n');
}
