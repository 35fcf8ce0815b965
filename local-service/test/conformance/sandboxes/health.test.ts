import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

const change = ({ service, key }: LocalTarget, id: string, body: object) =>
  fetch(`${service.adminUrl}/sandboxes/${id}`, {
    method: 'PATCH',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
const read = async (local: LocalTarget, id: string) => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
const well = { health: 'ok', healthReason: null, degradedSince: null };

rule(
  ['sandbox.health-enum', 'sandbox.health-reason', 'sandbox.degraded-since'],
  'a sandbox starts healthy',
  async () => {
    const id = await target.ready();
    expect((await target.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject(well);
  },
);

rule(
  ['sandbox.machine-provider', 'sandbox.url', 'sandbox.ip', 'sandbox.subdomain'],
  'a running sandbox shows its machine, an archived one shows none, and its three words stay the same',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    const before = await read(local, id);
    const machine = { machineProvider: 'baremetal', url: expect.any(String), ip: '127.0.0.1' };
    expect(before).toMatchObject(machine);
    expect(new URL(before.url ?? '').hostname).toContain(before.subdomain);
    expect((await local.call('GET', '/sandboxes')).body.sandboxes).toMatchObject([machine]);
    expect(before).toMatchObject({ desktopUrl: null, sshEndpoint: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
    expect(before.subdomain).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
    const none = { machineProvider: null, url: null, ip: null };
    expect(await local.archive(id)).toMatchObject({ ...none, subdomain: before.subdomain });
  },
  { needs: ['local'] },
);

rule(
  ['sandbox.health-degraded', 'sandbox.health-enum', 'sandbox.health-reason', 'sandbox.degraded-since'],
  'a degraded sandbox says why and since when, keeps running, and recovers',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    const id = await local.ready();
    await register(local, receiver.url);
    local.service.clock.hold();
    const since = local.service.clock.iso();
    const reason = 'A firewall rule blocks the tunnel.';
    expect((await change(local, id, { health: 'degraded', reason })).status).toBe(200);
    const degraded = { health: 'degraded', healthReason: reason, degradedSince: since };
    expect(await read(local, id)).toMatchObject({ ...degraded, state: 'ready' });
    expect((await local.call('GET', '/sandboxes')).body.sandboxes).toMatchObject([degraded]);
    await local.service.clock.advance(60_000);
    await change(local, id, { health: 'degraded', reason: 'Still blocked.' });
    expect(await read(local, id)).toMatchObject({ healthReason: 'Still blocked.', degradedSince: since });
    const { body } = await local.prompt(id, '```sh\necho works\n```');
    expect((await local.promptEnd(id, body.promptId)).status).toBe('completed');
    await change(local, id, { health: 'ok' });
    expect(await read(local, id)).toMatchObject({ ...well, state: 'idle' });
    await change(local, id, { health: 'degraded', reason });
    await local.call('POST', `/sandboxes/${id}/stop`);
    await local.service.clock.advance(1_000);
    expect(await read(local, id)).toMatchObject({ ...well, state: 'archived' });
    expect((await change(local, id, { health: 'degraded', reason })).status).toBe(400);
    expect(receiver.received.map(({ body: event }) => event.type)).toEqual(['sandbox.archived']);
  },
  { needs: ['clock', 'faults', 'local'] },
);

rule(
  ['states.enters-error', 'states.recovery', 'states.error', 'events.error', 'events.ready-after-error'],
  'a machine that fails during work takes its sandbox from running to error, ends its prompt, and recovers with a ready event',
  async () => {
    const local = await startLocalTarget();
    const receiver = await startReceiver();
    const id = await local.ready({ ttlSeconds: 3_600 });
    await register(local, receiver.url);
    const { body } = await local.prompt(id, '```sh\nsleep 3600\n```');
    local.service.clock.hold();
    await change(local, id, { state: 'error', reason: 'The host lost power.', recoverMs: 30_000 });
    expect(await read(local, id)).toMatchObject({ state: 'error', error: 'The host lost power.' });
    expect((await local.promptEnd(id, body.promptId)).status).toBe('interrupted');
    expect(await local.prompt(id, 'hello')).toMatchObject({ body: { code: 'sandbox_not_promptable' } });
    await local.service.clock.advance(30_000);
    expect(await read(local, id)).toMatchObject({ state: 'ready', error: null });
    const states = receiver.received.map(({ body: event }) => [event.data.previousState, event.data.state]);
    expect(states).toEqual([
      ['running', 'error'],
      ['error', 'ready'],
    ]);
    await change(local, id, { state: 'error' });
    await local.service.clock.advance(24 * 3_600_000);
    expect((await read(local, id)).state).toBe('error');
    await change(local, id, { state: 'ready' });
    expect((await read(local, id)).state).toBe('ready');
  },
  { needs: ['clock', 'faults', 'local'] },
);
