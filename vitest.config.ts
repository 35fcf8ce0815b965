import { defineConfig } from 'vitest/config';

const shared = {
  pool: 'forks' as const,
  // Files of a process share what they import, which would otherwise cost more than the tests. None of them leaves anything behind.
  isolate: false,
  unstubEnvs: true,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A condition that does not come true fails the test all the same, and a busy machine alone does not.
  expect: { poll: { timeout: 40_000, interval: 50 } },
};

/** Tests that start processes come first, and fewer files at once: what they wait for shares the cores with the others. */
const startsProcesses = { maxWorkers: 5, sequence: { groupOrder: 0 } };
/** More than cores: most of these tests wait, for timers and one another. */
const inOneProcess = { maxWorkers: 8, sequence: { groupOrder: 1 } };

/** Tests that wait side by side on one stand: most of a file's time is such waiting. Those that start processes are fewer at once. */
const waiting = { maxConcurrency: 12 };

/**
 * Real servers and processes answer late on a busy machine. A test that fails once is run again, and the end of the run names it: repair it
 * all the same.
 */
const onRealServers = { retry: 1 };

export default defineConfig({
  test: {
    reporters: ['default', './test/setup/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          ...shared,
          ...inOneProcess,
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/local-service/**/*.test.ts', 'test/client/**/*.test.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...inOneProcess,
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
          ...inOneProcess,
          ...onRealServers,
          name: 'temporal',
          include: [
            'test/workflows/**/*.test.ts',
            'test/bridge/**/*.test.ts',
            'test/activities/**/*.test.ts',
            'test/security/workflows/**/*.test.ts',
          ],
          globalSetup: ['test/setup/temporal-server.ts'],
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          ...inOneProcess,
          // No second attempt: it would run the whole table again. A row that only exceeded its time is run again by itself.
          name: 'matrix',
          include: ['test/matrix/**/*.test.ts'],
          globalSetup: ['test/setup/temporal-server.ts'],
          testTimeout: 180_000,
          provide: {
            matrix: {
              rows: process.env.MATRIX_ROWS ?? '',
              skip: Number(process.env.MATRIX_SKIP ?? 0),
              sample: 12,
              actSample: 4,
            },
          },
        },
      },
      {
        test: {
          ...shared,
          ...startsProcesses,
          ...onRealServers,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          ...shared,
          ...startsProcesses,
          ...onRealServers,
          name: 'security',
          include: ['test/security/**/*.test.ts'],
          exclude: ['test/security/workflows/**'],
          testTimeout: 180_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
