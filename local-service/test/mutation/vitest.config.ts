import { defineConfig } from 'vitest/config';

/** The conformance tests alone: whether they notice a change of the local service. */
export default defineConfig({
  test: {
    testTimeout: 60_000,
    include: ['test/conformance/**/*.test.ts'],
    provide: { conformanceUrl: '', conformanceKey: '' },
  },
});
