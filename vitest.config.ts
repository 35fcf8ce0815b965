import { defineConfig } from 'vitest/config';
import { WaitingFilesFirst } from './test/setup/waiting-files-first.js';
import {
  closingLineReporter,
  inOneProcess,
  propertySeed,
  shared,
  startsProcesses,
  temporalSetup,
  waiting,
} from './vitest.shared.js';

/** The table in CONTRIBUTING.md says which folder is in which project. `npm test` runs those of the gate. */
export default defineConfig({
  test: {
    reporters: ['default', closingLineReporter],
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
          ...waiting,
          ...inOneProcess,
          name: 'temporal',
          include: [
            'test/workflows/**/*.test.ts',
            'test/bridge/**/*.test.ts',
            'test/activities/**/*.test.ts',
            'test/security/workflows/**/*.test.ts',
          ],
          globalSetup: temporalSetup,
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
          globalSetup: temporalSetup,
        },
      },
      {
        test: {
          ...shared,
          ...waiting,
          name: 'slow',
          include: ['test/slow/**/*.test.ts'],
          globalSetup: temporalSetup,
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
