import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';

test('a sandbox stops by itself at archiveAfter', async () => {
  const under = await startService();
  const id = await under.ready({ ttlSeconds: 1 });
  const sandbox = await under.reach(id, 'archived');
  expect(sandbox).toMatchObject({ ttlSeconds: 1, archiveAfter: null, stop: { status: 'completed' } });
});

test('S11: a working agent moves archiveAfter forward and is not stopped under', async () => {
  const under = await startService();
  const id = await under.ready({ ttlSeconds: 1 });
  const before = (await under.call('GET', `/sandboxes/${id}`)).body.sandbox.archiveAfter ?? '';
  const { body } = await under.prompt(id, '```sh\nsleep 1.6\n```');
  const prompt = await under.promptEnd(id, body.promptId);
  expect(prompt.status).toBe('completed');
  const after = (await under.call('GET', `/sandboxes/${id}`)).body.sandbox;
  expect(after.stop).toBeNull();
  expect(Date.parse(after.archiveAfter ?? '')).toBeGreaterThan(Date.parse(before) + 1_000);
});

test('S11: a command does not keep a sandbox from stopping; a PATCH does', async () => {
  const under = await startService();
  const command = await under.ready({ ttlSeconds: 1 });
  const patched = await under.ready({ ttlSeconds: 1 });
  const { body } = await under.call('PATCH', `/sandboxes/${patched}`, { body: { ttlSeconds: 600 } });
  expect(body.sandbox.ttlSeconds).toBe(600);
  const running = under.call('POST', `/sandboxes/${command}/commands`, { body: { command: 'sleep 30' } });
  await under.reach(command, 'archived');
  expect((await running).body).toMatchObject({ exitCode: null, timedOut: false });
  expect((await under.call('GET', `/sandboxes/${patched}`)).body.sandbox.state).toBe('ready');
});

test('auto-stop is off when ttlSeconds is null', async () => {
  const under = await startService();
  const id = await under.ready({ ttlSeconds: 600 });
  const { body } = await under.call('PATCH', `/sandboxes/${id}`, { body: { ttlSeconds: null } });
  expect(body.sandbox).toMatchObject({ ttlSeconds: null, archiveAfter: null });
});
