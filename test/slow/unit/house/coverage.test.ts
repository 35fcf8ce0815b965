import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';

describe('docs/maintainers/coverage.md', () => {
  let ended: { readonly status: number | null; readonly stderr: string; readonly stdout: string };

  beforeAll(() => {
    ended = spawnSync(process.execPath, ['scripts/coverage.mjs', '--check', '--gaps'], {
      encoding: 'utf8',
      // Without the variables of this test's own runner.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR },
    });
  });

  test('is up to date: `npm run coverage` writes it', () => {
    expect(ended.stderr).toBe('');
    expect(ended.status).toBe(0);
  });

  test('shows no endpoint without its parts and no rule without a test', () => {
    // A script that failed has listed nothing either.
    expect(ended.stderr).not.toContain('Error');
    expect(ended.stdout).toBe('');
  });
});
