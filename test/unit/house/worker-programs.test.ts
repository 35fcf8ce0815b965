import { expect, test } from 'vitest';
import { importsIn, readSource, sourceFiles } from './source-imports.js';

/** The parts that run in a worker, besides the SDK of Temporal. */
const ofWorkers = [
  'activities',
  'workflows',
  'src/client',
  'src/contract',
  'src/encryption',
  'src/notify',
  'src/result-store',
  'src/retention',
  'src/secret-store',
  'src/webhook',
  'src/worker',
];

test('C1: in a worker only notify commands start programs', () => {
  const starters = sourceFiles(...ofWorkers).filter((file) =>
    importsIn(file, readSource(file)).some(({ target }) => /^(?:node:)?(?:child_process|cluster|vm)$/.test(target)),
  );
  expect(starters).toEqual(['activities/notification/run-command.ts']);
});
