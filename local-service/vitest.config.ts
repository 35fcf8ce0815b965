import { defineConfig } from 'vitest/config';
import { WaitingFilesFirst } from '../test/setup/waiting-files-first.js';
import { closingLineReporter, inOneProcess, propertySeed, shared, startsProcesses } from '../vitest.shared.js';

/** These files replace modules, which does not reach what another file of the same process has imported. */
const replacesModules = ['test/service/held-copies/**/*.test.ts'];

/** The table in CONTRIBUTING.md says what each project is. `npm test` runs those of the gate. */
export default defineConfig({
  test: {
    reporters: ['default', closingLineReporter],
    sequence: { sequencer: WaitingFilesFirst },
    // Projects transform the same files.
    experimental: { fsModuleCache: true },
    projects: [
      { test: { ...shared, ...inOneProcess, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          ...inOneProcess,
          name: 'service',
          include: ['test/service/**/*.test.ts'],
          exclude: replacesModules,
        },
      },
      { test: { ...shared, ...inOneProcess, name: 'isolated', include: replacesModules, isolate: true } },
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
      { test: { ...shared, ...startsProcesses, name: 'security', include: ['test/security/**/*.test.ts'] } },
      {
        test: {
          ...shared,
          name: 'slow',
          include: ['test/slow/**/*.test.ts'],
          // Many of these tests depend on the speed of the machine. The end of the run names each that was run again.
          retry: 1,
          maxWorkers: 6,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
