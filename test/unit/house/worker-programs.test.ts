import { expect, test } from 'vitest';
import { importsIn, readSource, sourceFiles } from './source-imports.js';

/** The parts that run in a worker, besides the SDK of Temporal. */
const ofWorkers = [
  'activities',
  'workflows',
  'src/client',
  'src/contract',
  'src/encryption',
  'src/errors',
  'src/notify',
  'src/result-store',
  'src/retention',
  'src/secrecy',
  'src/secret-store',
  'src/settings',
  'src/texts',
  'src/webhook',
  'src/worker',
];

const importers = (modules: RegExp) =>
  sourceFiles(...ofWorkers).filter((file) =>
    importsIn(file, readSource(file)).some(({ target }) => modules.test(target)),
  );

test('in a worker nothing starts programs', () => {
  expect(importers(/^(?:node:)?(?:child_process|cluster|vm)$/)).toEqual([]);
});

test('in a worker only its stores and its own settings read and write files', () => {
  expect(importers(/^(?:node:)?fs(?:\/promises)?$/)).toEqual([
    // For programs that save a download. No activity gets as far: each streams to the result store.
    'src/client/download.ts',
    // Reads the version for the User-Agent.
    'src/client/package-version.ts',
    'src/notify/secrets.ts',
    'src/result-store/directory-store.ts',
    'src/secret-store/directory-store.ts',
    // Finds the bundle of the workflows.
    'src/worker/workflow-bundle.ts',
  ]);
  const savers = sourceFiles('activities').filter((file) => /\.download\w*\(/.test(readSource(file)));
  expect(savers).toEqual([]);
});
