/** The zone of a schedule without --zone. Tier: unit. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

it.each(['CEST', 'CET-1CEST', ':/no/such'])(
  'TZ=%s names no zone: --zone is asked for before anything starts',
  async (TZ) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'job.yaml'), 'prompt: Say hello\n');
    const args = ['schedule', 'add', 'nightly', 'job.yaml', '--cron', '30 2 * * *'];
    const { exitCode, stderr } = await cli(args, { cwd, env: { TZ } });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`--zone is missing: TZ, which is "${TZ}",`),
    });
  },
);
