import { defineConfig } from 'vitest/config';

/** Records the histories that `test/workflows/replay.test.ts` replays: `npm run record-histories`. */
export default defineConfig({
  test: {
    include: ['test/histories/record.ts'],
    globalSetup: ['test/setup/prepare-run.ts', 'test/setup/temporal-server.ts'],
    pool: 'forks',
    testTimeout: 120_000,
  },
});
