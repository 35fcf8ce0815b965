/**
 * Builds the style and the script of the page from the files in `browser/`.
 *
 * They are separate files rather than text in TypeScript, so that they are linted, formatted and type-checked
 * (`browser/tsconfig.json`) as CSS and as JavaScript for browsers. The build copies them to the folder of the compiled
 * file. An inline module cannot import another, so the modules are combined into one script. Each module becomes a
 * function that returns its exports. An import reads the exports of that function. All imports and exports must
 * therefore have the form that the patterns below match.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const folder = new URL('../report/browser/', import.meta.url);
const importLine = /^import \{([^}]*)\} from '(\.\.?\/[\w./-]+\.js)';$/gm;
const exportWord = /^export (?=(?:async )?(?:function|const|class) (\w+))/gm;

const styles = ['base', 'summary', 'findings', 'charts', 'items', 'matrix', 'job', 'dialogs', 'media'];

export function styleText(): string {
  return styles.map((name) => readFileSync(new URL(`styles/${name}.css`, folder), 'utf8')).join('\n');
}

/** The script with all modules that `start` needs. Each module comes after the modules that it imports. */
export function scriptText(start: string): string {
  const done = new Set<string>();
  const texts: string[] = ['const modules = {};'];
  const add = (name: string): void => {
    if (done.has(name)) return;
    done.add(name);
    const text = readFileSync(new URL(name, folder), 'utf8');
    for (const [, , imported = ''] of text.matchAll(importLine)) add(pathFrom(name, imported));
    texts.push(asFunction(name, text));
  };
  add(start);
  return texts.join('\n');
}

function asFunction(name: string, text: string): string {
  const exported = [...text.matchAll(exportWord)].map(([, word]) => word);
  const body = text
    .replace(importLine, (_, names, imported) => `const {${names}} = modules['${pathFrom(name, imported)}'];`)
    .replace(exportWord, '');
  return `modules['${name}'] = (() => {\n${body}\nreturn { ${exported.join(', ')} };\n})();`;
}

/** The path in `browser/` of a module that the module `name` imports. */
const pathFrom = (name: string, imported: string): string => posix.join(posix.dirname(name), imported);
