import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository as root } from './source-imports.js';

function sources(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
}

const found = (files: readonly string[], pattern: RegExp): string[] =>
  files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8'))).sort();

it('only the program itself has the streams of its process, and passes them to the command line', () => {
  const files = ['src', 'activities', 'workflows'].flatMap(sources);
  expect(found(files, /\bprocess\.(?:stdout|stderr)\b|\bconsole\.\w/)).toEqual(['src/cli/main.ts']);
});

it('the command line makes its streams safe in one place', () => {
  expect(found(sources('src'), /\bcreateTerminal\(/).sort()).toEqual([
    'src/cli/output/terminal.ts',
    'src/cli/run-cli.ts',
  ]);
});

it('JSON is written through one file, which escapes what a terminal would obey', () => {
  const written = found(sources('src/cli'), /(?:stream|stdout|stderr)\.write\([^;]*JSON\.stringify/);
  expect(written).toEqual([]);
});

it('escape characters appear only in the files that may write them', () => {
  const allowed = ['screen-lines.ts', 'terminal.ts'];
  expect(found(sources('src/cli'), /\\u001b|\\x1b|\\u009b/i)).toEqual(allowed.map((name) => `src/cli/output/${name}`));
});
