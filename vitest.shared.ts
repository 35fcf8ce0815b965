/** What the tests of both packages have in common. */
import { fileURLToPath } from 'node:url';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Starts Temporal for the projects that need it. */
export const temporalSetup = [path('test/setup/prepare-run.ts'), path('test/setup/temporal-server.ts')];
export const closingLineReporter = path('test/setup/closing-line-reporter.ts');

/**
 * The seed of property tests. The gate draws the same examples in each run, so that it cannot fail by chance. `TEST_SEED=new`, which
 * `npm run test:all` sets, draws others; the end of the run names the seed.
 */
const givenSeed = process.env.TEST_SEED ?? '1';
export const propertySeed = givenSeed === 'new' ? Math.floor(Math.random() * 2 ** 31) : Number(givenSeed);

export const shared = {
  pool: 'forks' as const,
  // Files of a process share what they import, which would otherwise cost more than the tests. None of them leaves anything behind.
  isolate: false,
  unstubEnvs: true,
  setupFiles: [path('test/setup/property-seed.ts')],
  globalSetup: [path('test/setup/prepare-run.ts')],
  provide: { propertySeed },
  // They end a test that hangs. No test relies on them, so they are far longer than a busy machine needs.
  testTimeout: 300_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 50 } },
};

/** Tests that start processes come first, and fewer files at once: what they wait for shares the cores with the others. */
export const startsProcesses = { maxWorkers: 4, sequence: { groupOrder: 0 } };
/** More than cores: most of these tests wait, for timers and one another. Each worker costs its imports. */
export const inOneProcess = { maxWorkers: 5, sequence: { groupOrder: 1 } };

/** Tests that wait side by side on one stand: most of a file's time is such waiting. */
export const waiting = { maxConcurrency: 12 };
