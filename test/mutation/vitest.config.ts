import { defineConfig } from 'vitest/config';

/** The tests of pure decisions. They start no process and no server, so each mutation can run them. */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    include: [
      'test/unit/{activities,bridge,contract,fanout,retention,workflows}/**/*.test.ts',
      'test/unit/{webhook,notification}-signature.test.ts',
    ],
  },
});
