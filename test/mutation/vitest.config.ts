import { defineConfig } from 'vitest/config';

/** The tests of pure decisions and of the client. They start no process but a listener, so each mutation can run them. */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    include: ['test/unit/{activities,bridge,client,contract,fanout,retention,webhook,workflows}/**/*.test.ts'],
  },
});
