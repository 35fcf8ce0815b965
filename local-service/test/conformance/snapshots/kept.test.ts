/** Which snapshots are kept. */
import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

const dayMs = 24 * 3_600_000;

rule(
  ['stops.keeps-snapshots', 'snapshots.list-of-sandbox', 'snapshots.expire-14-days'],
  'the snapshot of each stop is kept, also without a name, until the data of the sandbox expires',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: null });
    const snapshots = async () => (await local.call('GET', `/sandboxes/${id}/snapshots`)).body.snapshots;
    for (const content of ['first', 'second', 'third']) {
      await local.call('POST', `/sandboxes/${id}/resume`);
      await local.reach(id, 'ready');
      await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'file', content } });
      await local.archive(id);
    }
    const [first] = await snapshots();
    expect(await snapshots()).toHaveLength(3);
    expect((await local.call('GET', `/snapshots/${first?.id}/files?path=file`)).text).toBe('first');
    await local.service.clock.advance(14 * dayMs + 1_000);
    expect(await snapshots()).toEqual([]);
  },
  { needs: ['local', 'clock'] },
);
