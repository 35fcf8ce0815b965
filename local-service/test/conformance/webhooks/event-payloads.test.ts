import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

const aDateTime = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);

rule(
  [
    'payload.id',
    'payload.type',
    'payload.created-at',
    'payload.data',
    'events.ready',
    'events.archived',
    'events.account-wide',
    'states.create-ready-webhook',
    'states.archival-completes',
  ],
  'ready and archived are sent for every sandbox of the account, complete and with both states',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url);
    for (const name of ['one', 'two']) {
      const id = await local.ready({ name });
      await local.archive(id);
      const deliveries = await receiver.waitFor(2, { sandboxId: id });
      const [ready, archived] = deliveries.map(({ body }) => body);
      const envelope = { id: expect.stringMatching(/^evt_[0-9a-f]{32}$/), createdAt: aDateTime };
      const sandbox = { id, name };
      expect(ready).toEqual({
        ...envelope,
        type: 'sandbox.ready',
        data: { sandbox, previousState: 'provisioned', state: 'ready' },
      });
      expect(archived).toEqual({
        ...envelope,
        type: 'sandbox.archived',
        data: { sandbox, previousState: 'archiving', state: 'archived' },
      });
    }
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(4);
  },
  { needs: ['local'] },
);

rule(
  ['payload.hydrated', 'sandbox.hydrated-webhook', 'states.hydration-ends'],
  'hydrated has the same envelope and no states',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.hydrated']);
    const id = await local.ready({ name: 'restored' });
    await local.archive(id);
    await local.call('POST', `/sandboxes/${id}/resume`);
    const [hydrated] = await receiver.waitFor(1);
    expect(hydrated?.body).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'sandbox.hydrated',
      createdAt: aDateTime,
      data: { sandbox: { id, name: 'restored' } },
    });
    expect(hydrated?.headers['x-svc-event']).toBe('sandbox.hydrated');
  },
  { needs: ['local'] },
);

rule(
  'trap.S8',
  'an event exists as soon as the new state can be read, with the time of the change',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.ready']);
    const id = await local.create();
    const sandbox = await local.reach(id, 'ready');
    const readAt = local.service.clock.now();
    // The service ends right after the change. The next one delivers what this one has stored.
    await local.service.close();
    const again = await startLocalTarget({ directory: local.directory });
    const [ready] = await receiver.waitFor(1, { sandboxId: id });
    const createdAt = Date.parse(ready?.body.createdAt ?? '');
    expect(createdAt).toBeGreaterThanOrEqual(Date.parse(sandbox.updatedAt ?? ''));
    expect(createdAt).toBeLessThanOrEqual(readAt);
    expect((await again.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('ready');
  },
  { needs: ['local'] },
);

rule(
  ['events.error', 'events.ready-after-error', 'sandbox.error', 'states.enters-error'],
  'an error is explained on the sandbox, and the recovery clears it',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.error', 'sandbox.ready']);
    await local.arm({ kind: 'boot_error', recoverMs: 60_000 });
    const id = await local.create({ ttlSeconds: null });
    expect((await local.reach(id, 'error')).error).toEqual(expect.any(String));
    await local.service.clock.advance(60_000);
    expect((await local.reach(id, 'ready', 'idle')).error).toBeNull();
    const types = (await receiver.waitFor(2)).map(({ body }) => body.type);
    expect(types).toEqual(['sandbox.error', 'sandbox.ready']);
  },
  { needs: ['faults', 'clock', 'local'] },
);
