// Writes the snippets into the pages that mark them. Each snippet is a file that the tests type-check and run.
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const pages = ['README.md', 'docs/library.md'].map((page) => new URL(page, root));
const marked = /(<!-- snippet: ([a-z-]+) -->\n)(?:\n```ts\n.*?\n```\n)?/gs;

/** The snippet with the imports that a user of the package writes. */
function snippet(name) {
  return readFileSync(new URL(`test/unit/house/snippets/${name}.ts`, root), 'utf8')
    .replace("'../../../../src/index.js'", "'sandflow'")
    .replace(/'(?:\.\.\/){4}(?:src\/)?([a-z-]+)\/index\.js'/g, "'sandflow/$1'")
    .replace("'../../../../local-service/src/index.js'", "'sandflow-local-service'")
    .replace("'../../../../workflows/waiting.js'", "'sandflow/waiting'")
    .trimEnd();
}

for (const page of pages) {
  const text = readFileSync(page, 'utf8');
  const written = text.replace(marked, (_, marker, name) => `${marker}\n\`\`\`ts\n${snippet(name)}\n\`\`\`\n`);
  if (!process.argv.includes('--check')) writeFileSync(page, written);
  else if (written !== text) process.exitCode = 1;
}
