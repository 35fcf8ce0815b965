import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('docs/coverage.md is up to date: `npm run coverage` writes it', () => {
  const ended = spawnSync(process.execPath, ['scripts/coverage.mjs', '--check'], {
    encoding: 'utf8',
    // Without what this test's own runner has put there.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR },
  });
  expect(ended.stderr + ended.stdout).toBe('');
  expect(ended.status).toBe(0);
});
