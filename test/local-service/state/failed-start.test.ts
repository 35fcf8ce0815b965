import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDirectory, startService } from '../service-under-test.js';

test('B14: a start that fails at a late step closes what it had opened, so that the next one gets the directory', async () => {
  const directory = await emptyDirectory();
  const hostKey = join(directory, 'ssh_host_key');
  await mkdir(hostKey);
  await expect(startService({ directory })).rejects.toMatchObject({ code: 'EISDIR' });
  await rm(hostKey, { recursive: true });
  const { service } = await startService({ directory });
  expect((await fetch(`${service.url}/nothing`)).status).toBe(401);
});
