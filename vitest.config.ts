import { defineConfig } from 'vitest/config';
import { WaitingFilesFirst } from './test/setup/waiting-files-first.js';

/**
 * The seed of property tests. The gate draws the same examples in each run, so that it cannot fail by chance. `TEST_SEED=new`, which
 * `npm run test:all` sets, draws others; the end of the run names the seed.
 */
const givenSeed = process.env.TEST_SEED ?? '1';
const propertySeed = givenSeed === 'new' ? Math.floor(Math.random() * 2 ** 31) : Number(givenSeed);

const shared = {
  pool: 'forks' as const,
  // Files of a process share what they import, which would otherwise cost more than the tests. None of them leaves anything behind.
  isolate: false,
  unstubEnvs: true,
  setupFiles: ['test/setup/property-seed.ts'],
  globalSetup: ['test/setup/prepare-run.ts'],
  provide: { propertySeed },
  // They end a test that hangs. No test relies on them, so they are far longer than a busy machine needs.
  testTimeout: 300_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000, interval: 50 } },
};

/** Tests that start processes come first, and fewer files at once: what they wait for shares the cores with the others. */
const startsProcesses = { maxWorkers: 4, sequence: { groupOrder: 0 } };
/** More than cores: most of these tests wait, for timers and one another. Each worker costs its imports. */
const inOneProcess = { maxWorkers: 5, sequence: { groupOrder: 1 } };

/** Tests that wait side by side on one stand: most of a file's time is such waiting. */
const waiting = { maxConcurrency: 12 };

/** These files replace modules, which does not reach what another file of the same process has imported. */
const replacesModules = ['test/local-service/held-copies/**/*.test.ts'];

/** The table in CONTRIBUTING.md says which folder is in which project. `npm test` runs those of the gate. */
export default defineConfig({
  test: {
    reporters: ['default', './test/setup/closing-line-reporter.ts'],
    sequence: { sequencer: WaitingFilesFirst },
    // Projects transform the same files.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...shared,
          ...inOneProcess,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...inOneProcess,
          name: 'local-service',
          include: ['test/local-service/**/*.test.ts'],
          exclude: replacesModules,
        },
      },
      {
        test: {
          ...shared,
          ...inOneProcess,
          name: 'isolated',
          include: replacesModules,
          isolate: true,
        },
      },
      {
        test: {
          ...shared,
          ...inOneProcess,
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          provide: {
            propertySeed,
            conformanceUrl: process.env.SANDFLOW_CONFORMANCE_URL ?? '',
            conformanceKey: process.env.SANDFLOW_CONFORMANCE_KEY ?? '',
          },
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          ...inOneProcess,
          name: 'temporal',
          include: [
            'test/workflows/**/*.test.ts',
            'test/bridge/**/*.test.ts',
            'test/activities/**/*.test.ts',
            'test/security/workflows/**/*.test.ts',
          ],
          globalSetup: ['test/setup/prepare-run.ts', 'test/setup/temporal-server.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...startsProcesses,
          name: 'processes',
          include: ['test/e2e/**/*.test.ts', 'test/security/**/*.test.ts'],
          exclude: ['test/security/workflows/**'],
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          ...inOneProcess,
          name: 'extended',
          include: ['test/extended/**/*.test.ts'],
          globalSetup: ['test/setup/prepare-run.ts', 'test/setup/temporal-server.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          name: 'slow',
          include: ['test/slow/**/*.test.ts'],
          globalSetup: ['test/setup/prepare-run.ts', 'test/setup/temporal-server.ts'],
          // Many of these tests depend on the speed of the machine. The end of the run names each that was run again.
          retry: 1,
          maxWorkers: 6,
          sequence: { groupOrder: 2 },
          provide: {
            propertySeed,
            matrix: {
              rows: process.env.MATRIX_ROWS ?? '',
              skip: Number(process.env.MATRIX_SKIP ?? 0),
              sample: 12,
              actSample: 4,
            },
          },
        },
      },
    ],
  },
});
