import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apiKey, startService } from '../service-under-test.js';

it('a sandbox with an unreadable snapshot is in error, can be stopped, and recovers when the snapshot is readable', async () => {
  const { call, ready, archive, reach, directory, service } = await startService();
  const id = await ready();
  await call('PUT', `/sandboxes/${id}/files`, { body: { path: 'file.txt', content: 'kept' } });
  await archive(id);
  const snapshots = join(directory, 'machines', 'snapshots');
  await rename(snapshots, `${snapshots}-away`);
  await call('POST', `/sandboxes/${id}/resume`);
  const broken = await reach(id, 'error');
  expect(broken.error).toContain('The disk could not be created');
  const recover = await fetch(`${service.adminUrl}/sandboxes/${id}`, {
    method: 'PATCH',
    body: JSON.stringify({ state: 'ready' }),
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
  expect(recover.status).toBe(400);
  expect((await archive(id)).stop).toMatchObject({ status: 'completed', error: null });
  await rename(`${snapshots}-away`, snapshots);
  await call('POST', `/sandboxes/${id}/resume`);
  await reach(id, 'ready');
  expect((await call('GET', `/sandboxes/${id}/files?path=file.txt`)).body.content).toBe('kept');
});
