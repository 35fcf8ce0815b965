// Which type declarations of a build the entries of the package need. The others describe internals that nobody can import.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @returns the paths of all declarations that `entries` reach through their imports, the entries included */
export function reachableTypes(entries) {
  const reached = new Set();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const [, imported] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\(|import )['"](\.[^'"]+)\.js['"]/g,
    )) {
      open.push(join(dirname(file), `${imported}.d.ts`));
    }
  }
  return reached;
}
