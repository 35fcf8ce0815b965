import { defineConfig } from 'vitest/config';

const shared = {
  pool: 'forks' as const,
  // Files of a process share what they import, which would otherwise cost more than the tests. None of them leaves anything behind.
  isolate: false,
  // Tests that wait side by side on one stand. Most of a file's time is such waiting.
  maxConcurrency: 12,
  unstubEnvs: true,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A condition that does not come true fails the test all the same, and a busy machine alone does not.
  expect: { poll: { timeout: 40_000, interval: 50 } },
};

/** Start processes, or calculate. More than cores, since they wait for one another too. */
const calculating = { maxWorkers: 3, sequence: { groupOrder: 0 } };
/** Wait for timers of workflows and of the service: a worker of theirs takes a quarter of a core. */
const waiting = { maxWorkers: 4, sequence: { groupOrder: 1 } };

export default defineConfig({
  test: {
    reporters: ['default', './test/setup/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          ...shared,
          ...calculating,
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/local-service/**/*.test.ts', 'test/client/**/*.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...calculating,
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          provide: {
            conformanceUrl: process.env.SANDFLOW_CONFORMANCE_URL ?? '',
            conformanceKey: process.env.SANDFLOW_CONFORMANCE_KEY ?? '',
          },
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          name: 'temporal',
          include: ['test/workflows/**/*.test.ts', 'test/bridge/**/*.test.ts', 'test/activities/**/*.test.ts'],
          globalSetup: ['test/setup/temporal-server.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          name: 'matrix',
          include: ['test/matrix/**/*.test.ts'],
          globalSetup: ['test/setup/temporal-server.ts'],
          testTimeout: 180_000,
          provide: { matrix: { rows: process.env.MATRIX_ROWS ?? '', sample: 20, actSample: 6 } },
        },
      },
      {
        test: {
          ...shared,
          ...calculating,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
