import { expect } from 'vitest';
import { rule } from '../rule.js';
import { useTarget } from '../target/index.js';

const target = useTarget();

rule(['states.auto-stop', 'sandbox.archive-after'], 'a sandbox stops by itself at archiveAfter', async () => {
  const id = await target.ready({ ttlSeconds: 1 });
  const sandbox = await target.reach(id, 'archived');
  expect(sandbox).toMatchObject({ ttlSeconds: 1, archiveAfter: null, stop: { status: 'completed' } });
});

rule(
  ['trap.S11', 'sandbox.archive-after-moves', 'states.auto-stop-extends'],
  'a working agent moves archiveAfter forward and is not stopped',
  async () => {
    const id = await target.ready({ ttlSeconds: 1 });
    const before = (await target.call('GET', `/sandboxes/${id}`)).body.sandbox.archiveAfter ?? '';
    const { body } = await target.prompt(id, '```sh\nsleep 1.6\n```');
    const prompt = await target.promptEnd(id, body.promptId);
    expect(prompt.status).toBe('completed');
    const after = (await target.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(after.stop).toBeNull();
    expect(Date.parse(after.archiveAfter ?? '')).toBeGreaterThan(Date.parse(before) + 1_000);
  },
  { needs: ['local'] },
);

rule(
  ['trap.S11', 'states.only-prompts-run', 'sandboxes.patch'],
  'a command does not extend the time of a sandbox, and a PATCH does',
  async () => {
    const command = await target.ready({ ttlSeconds: 1 });
    const patched = await target.ready({ ttlSeconds: 1 });
    const { body } = await target.call('PATCH', `/sandboxes/${patched}`, { body: { ttlSeconds: 600 } });
    expect(body.sandbox.ttlSeconds).toBe(600);
    const running = target.call('POST', `/sandboxes/${command}/commands`, { body: { command: 'sleep 30' } });
    await target.reach(command, 'archived');
    expect((await running).body).toMatchObject({ exitCode: null, timedOut: false });
    expect((await target.call('GET', `/sandboxes/${patched}`)).body.sandbox.state).toBe('ready');
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
  'C7: a stopped sandbox says why it is stopped, by a request or by itself, until it is resumed',
  async () => {
    const [asked, alone] = [await target.ready({ ttlSeconds: null }), await target.ready({ ttlSeconds: 1 })];
    const byRequest = (await target.archive(asked)).error;
    const byItself = (await target.reach(alone, 'archived')).error;
    expect(byRequest).toMatch(/request/);
    expect(byItself).toMatch(/auto-stop/);
    await target.call('POST', `/sandboxes/${asked}/resume`);
    expect((await target.reach(asked, 'ready')).error).toBeNull();
  },
);
