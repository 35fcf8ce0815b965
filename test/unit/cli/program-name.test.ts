import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { asCalled, calledAs } from '../../../src/cli/program-name.js';
import { commandNames } from '../house/cli-grammar.js';
import { repository } from '../house/source-imports.js';

it.each([
  ['/home/me/sandflow/node_modules/.bin/sandflow', 'npx sandflow'],
  ['/home/me/.npm/_npx/2a2a250b9996c7f2/node_modules/.bin/sandflow', 'npx sandflow'],
  ['/usr/local/bin/sandflow', 'sandflow'],
  ['/home/me/sandflow/dist/src/cli/main.js', 'sandflow'],
])('the program at %s is called as %s', (path, name) => {
  expect(calledAs(path)).toBe(name);
});

it.each([
  ['Start one with `sandflow worker`.', 'Start one with `npx sandflow worker`.'],
  ['`sandflow down --force`, then `sandflow up`.', '`npx sandflow down --force`, then `npx sandflow up`.'],
  ['List them with: sandflow schedule list', 'List them with: npx sandflow schedule list'],
  ['sandflow run "…" --sandbox ID', 'npx sandflow run "…" --sandbox ID'],
  ['Run: npx sandflow up', 'Run: npx sandflow up'],
  ['This version of sandflow runs no job of it.', 'This version of sandflow runs no job of it.'],
  ['Another program than sandflow wrote it.', 'Another program than sandflow wrote it.'],
  ['node_modules/sandflow up', 'node_modules/sandflow up'],
])('the message %j of another part is told as %j', (message, told) => {
  expect(asCalled(message, 'npx sandflow')).toBe(told);
  expect(asCalled(message, 'sandflow')).toBe(message);
});

const command = new RegExp(
  `(?<![\\w/.@-]|npx )sandflow (?:${[...new Set(commandNames().map((name) => name.split(' ')[0]))].join('|')})(?![\\w-])`,
);

/** The lines of the files below `folder`, without comments, in which a command is named. */
function namingLines(folder: string, isSkipped: (file: string) => boolean): string[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !isSkipped(file))
    .flatMap((file) => {
      const lines = readFileSync(join(repository, folder, file), 'utf8').split('\n');
      const said = lines.filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line) && command.test(line));
      return said.map((line) => `${file}: ${line.trim()}`);
    });
}

it('every message of the command line names a command as the user called it', () => {
  const isHelp = (file: string) => ['options.ts', 'examples.ts', 'program.ts'].includes(basename(file));
  expect(namingLines('src/cli', isHelp)).toEqual([]);
});

it('every command that a message of another part names is known there', () => {
  // The schema of a policy is a file that editors read.
  const lines = namingLines('src', (file) => file.startsWith('cli/') || file === 'retention/policy-schema.ts');
  expect(lines.length).toBeGreaterThan(20);
  expect(lines.filter((line) => command.test(asCalled(line, 'npx sandflow')))).toEqual([]);
});

it('an error of another part is told so', async () => {
  const [, path = ''] = process.argv;
  process.argv[1] = '/home/me/sandflow/node_modules/.bin/sandflow';
  vi.resetModules();
  try {
    const { failureOf } = await import('../../../src/cli/errors.js');
    const { SandflowError } = await import('../../../src/errors/sandflow-error.js');
    const { message } = failureOf(new SandflowError('no_worker', 'Start one with `sandflow worker`.')).error;
    expect(message).toBe('Start one with `npx sandflow worker`.');
  } finally {
    process.argv[1] = path;
    vi.resetModules();
  }
});
