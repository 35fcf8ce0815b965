import { expect } from 'vitest';
import { isSignedWith, register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

rule(
  [
    'flow.recommended',
    'envelope.types-shown',
    'sandbox.id-pattern',
    'create.response',
    'states.stop-accepted',
    'states.archival-completes',
    'stops.requested-at',
    'stops.completed',
  ],
  'create, ready webhook, prompt, stop and archived work over HTTP',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    const { secret } = await register(local, receiver.url);

    const created = await local.call('POST', '/sandboxes', { body: { name: 'first', ttlSeconds: 600 } });
    expect(created.status).toBe(202);
    expect(created.body).toMatchObject({ ok: true, type: 'sandbox.created', sandbox: { name: 'first' } });
    const { id } = created.body.sandbox;
    expect(id).toMatch(/^bx_[23456789abcdefghjkmnpqrstuvwxyz]{8}$/);

    const [ready] = await receiver.waitFor(1, { type: 'sandbox.ready' });
    expect(ready && isSignedWith(secret, ready)).toBe(true);
    expect(ready?.body.data).toEqual({ sandbox: { id, name: 'first' }, previousState: 'provisioned', state: 'ready' });

    const queued = await local.prompt(id, 'Say hello.\n\n```sh\necho hello from inside\n```\n');
    expect(queued.status).toBe(202);
    const prompt = await local.promptEnd(id, queued.body.promptId);
    expect(prompt).toMatchObject({ status: 'completed', error: null });
    expect(prompt.result).toContain('hello from inside');
    expect(await local.reach(id, 'idle')).toMatchObject({ error: null });

    const stopping = await local.call('POST', `/sandboxes/${id}/stop`);
    expect(stopping.status).toBe(202);
    expect(stopping.body).toMatchObject({ type: 'sandbox.stopping', stop: { status: 'pending', endedAt: null } });
    const [archived] = await receiver.waitFor(1, { type: 'sandbox.archived' });
    expect(archived?.body.data).toMatchObject({ previousState: 'archiving', state: 'archived' });
    const stop = await local.call('GET', `/sandboxes/${id}/stops/${stopping.body.id}`);
    expect(stop.body.stop).toMatchObject({ id: stopping.body.id, status: 'completed', error: null });
    expect(stop.body.stop.requestedAt).not.toBeNull();

    const sandbox = await local.reach(id, 'archived');
    expect(sandbox).toMatchObject({ snapshotAvailable: true, lastSnapshotStatus: 'completed', archiveAfter: null });
    expect(sandbox.stop).toMatchObject({ id: stopping.body.id, status: 'completed', requestedAt: null });
  },
  { needs: ['local'] },
);
