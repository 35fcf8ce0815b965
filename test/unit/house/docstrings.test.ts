/**
 * Every export of the library, and every option, has a docstring. Elsewhere, only what a name does not say needs one.
 * Every function of the library has an example, and TypeScript accepts the examples.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { exportsOf } from './public-exports.js';
import { repository } from './source-imports.js';

const library = [...exportsOf('src/index.ts').values()];
const namesOf = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name);

test('every export of the library, and every option, has a docstring', () => {
  const ofService = [...exportsOf('local-service/src/index.ts').values()];
  const all = [...library, ...ofService.filter(({ kind }) => kind === 'field')];
  expect(all.length).toBeGreaterThan(400);
  expect(namesOf(all.filter(({ docstring }) => docstring === ''))).toEqual([]);
});

const examples = library
  .filter(({ kind }) => kind === 'function')
  .map(({ name, docstring }) => ({
    name,
    code: (/@example\n([\s\S]*?)(?: \* @|\s*\*\/)/.exec(docstring)?.[1] ?? '').replace(/^ \* ?/gm, ''),
  }));

test('every function of the library has an example, which calls it', () => {
  expect(examples.length).toBeGreaterThan(70);
  expect(namesOf(examples.filter(({ name, code }) => !code.includes(`${name}(`)))).toEqual([]);
});

/** What the examples take from around them; `src/index.ts` says so. */
const surroundings = `
import { appendFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import type * as sandflow from '../../../src/index.js';
declare const client: Client, connection: NativeConnection, api: sandflow.SandboxClient, config: sandflow.Config;
declare const results: sandflow.ResultStore, ring: sandflow.KeyRing, policy: sandflow.CleanupPolicy;
declare const deployment: string, taskQueue: string, workflowsPath: string, batchKey: string, id: string;
declare const request: IncomingMessage, response: ServerResponse, rawBody: Buffer, error: unknown;
declare const secret: string, secrets: readonly string[], token: string, file: string, url: string, text: string;
declare const webhookId: string;
`;

test('TypeScript accepts the examples', async () => {
  // Below node_modules, so that the examples find the packages that they import.
  const cache = join(repository, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'examples-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const values = namesOf(library.filter(({ kind }) => ['function', 'class', 'const'].includes(kind)));
  const functions = examples.map(({ name, code }) => `export async function exampleOf_${name}() {\n${code}\n}`);
  const imports = `import { ${values.join(', ')} } from '../../../src/index.js';`;
  await writeFile(join(directory, 'examples.ts'), [imports, surroundings, ...functions].join('\n'));
  const compilerOptions = {
    ...{ noEmit: true, incremental: false, noUnusedLocals: false },
    ...{ rootDir: repository, typeRoots: [join(repository, 'node_modules', '@types')] },
  };
  const settings = { extends: join(repository, 'tsconfig.json'), compilerOptions, include: ['examples.ts'] };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(settings));
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const found = await promisify(execFile)(process.execPath, [tsc, '-p', directory, '--singleThreaded']).then(
    () => '',
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => `${stdout}${stderr}`,
  );
  expect(found).toBe('');
});
