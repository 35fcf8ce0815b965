import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, test } from 'vitest';
import { emptyDirectory, startService } from '../service-under-test.js';

test('a start that fails at a late step closes what it had opened, so that the next one gets the directory', async () => {
  const directory = await emptyDirectory();
  const hostKey = join(directory, 'ssh_host_key');
  await mkdir(hostKey);
  await expect(startService({ directory })).rejects.toMatchObject({ code: 'EISDIR' });
  await rm(hostKey, { recursive: true });
  const { service } = await startService({ directory });
  expect((await fetch(`${service.url}/nothing`)).status).toBe(401);
});

test('a database of another layout is refused, and is not changed', async () => {
  const directory = await emptyDirectory();
  const file = join(directory, 'service.db');
  const newer = new Libsql(file);
  newer.exec('PRAGMA user_version = 2');
  newer.close();
  await expect(startService({ directory })).rejects.toMatchObject({
    code: 'database_of_other_version',
    message: expect.stringContaining(`${directory} has layout 2`),
  });
  // Where SQLite's header has `user_version`.
  expect((await readFile(file)).readUInt32BE(60)).toBe(2);
});
