import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(['states.auto-stop', 'sandbox.archive-after'], 'a sandbox stops by itself at archiveAfter', async () => {
  const id = await target.create({ ttlSeconds: 1 });
  const sandbox = await target.reach(id, 'archived');
  expect(sandbox).toMatchObject({ ttlSeconds: 1, archiveAfter: null, stop: { status: 'completed' } });
});

rule(
  ['trap.S11', 'sandbox.archive-after-moves', 'states.auto-stop-extends'],
  'a working agent moves archiveAfter forward and is not stopped',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready({ ttlSeconds: 600 });
    local.service.clock.hold();
    const before = (await local.call('GET', `/sandboxes/${id}`)).body.sandbox.archiveAfter ?? '';
    const { body } = await local.prompt(id, '```sh\nuntil test -e go; do sleep 0.02; done\n```');
    await local.service.clock.advance(1_000_000);
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox).toMatchObject({ state: 'running', stop: null });
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
    const prompt = await local.promptEnd(id, body.promptId);
    expect(prompt.status).toBe('completed');
    const after = await local.reach(id, 'idle');
    expect(after.stop).toBeNull();
    expect(Date.parse(after.archiveAfter ?? '')).toBeGreaterThan(Date.parse(before) + 600_000);
  },
  { needs: ['local'] },
);

rule(
  ['trap.S11', 'states.only-prompts-run', 'sandboxes.patch'],
  'a command does not extend the time of a sandbox, and a PATCH does',
  async () => {
    const local = await startLocalTarget();
    const command = await local.ready({ ttlSeconds: 600 });
    const patched = await local.ready({ ttlSeconds: 600 });
    local.service.clock.hold();
    const { body } = await local.call('PATCH', `/sandboxes/${patched}`, { body: { ttlSeconds: 1_200 } });
    expect(body.sandbox.ttlSeconds).toBe(1_200);
    const path = `/sandboxes/${command}`;
    const running = local.call('POST', `${path}/commands`, { body: { command: 'touch begun; sleep 600' } });
    await expect.poll(async () => (await local.call('GET', `${path}/files?path=begun`)).status).toBe(200);
    await local.service.clock.advance(900_000);
    await local.reach(command, 'archived');
    expect((await running).body).toMatchObject({ exitCode: null, timedOut: false });
    expect((await local.call('GET', `/sandboxes/${patched}`)).body.sandbox.state).toBe('ready');
  },
  { needs: ['clock'] },
);

rule(['sandbox.ttl-null', 'sandbox.archive-after'], 'auto-stop is off when ttlSeconds is null', async () => {
  const id = await target.ready({ ttlSeconds: 600 });
  const { body } = await target.call('PATCH', `/sandboxes/${id}`, { body: { ttlSeconds: null } });
  expect(body.sandbox).toMatchObject({ ttlSeconds: null, archiveAfter: null });
});

rule(
  ['sandbox.error', 'states.auto-stop', 'stops.completed'],
  'a stopped sandbox says why it is stopped, by a request or by itself, until it is resumed',
  async () => {
    const [asked, alone] = [await target.ready({ ttlSeconds: null }), await target.create({ ttlSeconds: 1 })];
    const byRequest = (await target.archive(asked)).error;
    const byItself = (await target.reach(alone, 'archived')).error;
    expect(byRequest).toMatch(/request/);
    expect(byItself).toMatch(/auto-stop/);
    await target.call('POST', `/sandboxes/${asked}/resume`);
    expect((await target.reach(asked, 'ready')).error).toBeNull();
  },
);
