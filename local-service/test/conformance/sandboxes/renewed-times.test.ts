import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(['states.auto-stop', 'sandbox.archive-after'], 'a resumed sandbox stops by itself again', async () => {
  const id = await target.create({ ttlSeconds: 1 });
  const first = (await target.reach(id, 'archived')).stop?.id;
  expect((await target.call('POST', `/sandboxes/${id}/resume`)).body.sandbox.state).toBe('provisioning');
  expect((await target.reach(id, 'archived')).stop?.id).not.toBe(first);
});

rule(
  ['trap.S11', 'sandbox.archive-after-moves', 'states.auto-stop-extends'],
  'the full time begins again when the agent ends',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: 600 });
    local.service.clock.hold();
    const { promptId } = (await local.prompt(id, '```sh\nuntil test -e go; do sleep 0.02; done\n```')).body;
    await local.service.clock.advance(300_000);
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
    await local.promptEnd(id, promptId);
    const { archiveAfter } = await local.reach(id, 'idle');
    expect(Date.parse(archiveAfter ?? '') - local.service.clock.now()).toBe(600_000);
  },
  { needs: ['clock', 'local'] },
);

rule(
  'stops.completed',
  'the last attempt of a stop is later than its request',
  async () => {
    const local = await startLocalTarget({ timings: { archiveMs: 5_000 } });
    const id = await local.ready();
    local.service.clock.hold();
    const { id: stopId, stop } = (await local.call('POST', `/sandboxes/${id}/stop`)).body;
    await local.service.clock.advance(60_000);
    await local.reach(id, 'archived');
    const ended = (await local.call('GET', `/sandboxes/${id}/stops/${stopId}`)).body.stop;
    expect(ended.requestedAt).toBe(stop.requestedAt);
    expect(Date.parse(ended.lastAttemptAt ?? '') - Date.parse(ended.requestedAt ?? '')).toBeGreaterThanOrEqual(5_000);
  },
  { needs: ['clock'] },
);

rule(
  'deletion.confirm-exact',
  'an id in upper case, or with more than the id, does not confirm a deletion',
  async () => {
    const id = await target.create();
    // HTTP itself drops spaces and tabs around a value, but not a no-break space.
    for (const value of [id.toUpperCase(), `${id}\u00a0`, `${id},${id}`, `"${id}"`, id.slice(0, -1)]) {
      const refused = await target.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': value } });
      expect(refused, value).toMatchObject({ status: 400, body: { code: 'confirmation_required' } });
    }
    expect((await target.call('GET', `/sandboxes/${id}`)).status).toBe(200);
  },
);
