import { cpSync } from 'node:fs';
import { expect, test } from 'vitest';
import { emptyDirectory, type ServiceUnderTest, startService } from '../service-under-test.js';
import { register, startReceiver } from '../webhooks/receiver.js';

/**
 * The state after a kill: the files as they are at this moment, with nothing flushed or closed. The copy is
 * created in one turn of the event loop, so the service writes nothing meanwhile.
 */
async function killedCopy(under: ServiceUnderTest): Promise<string> {
  const directory = await emptyDirectory();
  cpSync(under.directory, directory, { recursive: true });
  await under.service.close();
  return directory;
}

test('a sandbox in creation becomes ready after a kill, and its key still finds it', async () => {
  const before = await startService({ timings: { bootMs: 600 } });
  const headers = { 'idempotency-key': 'key-1' };
  const { body } = await before.call('POST', '/sandboxes', { body: { name: 'booting' }, headers });
  const directory = await killedCopy(before);
  const after = await startService({ directory, timings: { bootMs: 600 } });
  expect((await after.call('POST', '/sandboxes', { body: { name: 'booting' }, headers })).body.sandbox.id).toBe(
    body.sandbox.id,
  );
  await after.reach(body.sandbox.id, 'ready');
  expect(after.service.books.sandboxes()).toHaveLength(1);
});

test('a stop in progress is completed once after a kill', async () => {
  const before = await startService({ timings: { archiveMs: 300 } });
  const id = await before.ready();
  await before.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'kept', content: 'kept' } });
  const { body } = await before.call('POST', `/sandboxes/${id}/stop`);
  const after = await startService({ directory: await killedCopy(before) });
  await after.reach(id, 'archived');
  expect((await after.call('GET', `/sandboxes/${id}/stops/${body.id}`)).body.stop.status).toBe('completed');
  await after.call('POST', `/sandboxes/${id}/resume`);
  await after.reach(id, 'ready');
  expect((await after.call('GET', `/sandboxes/${id}/files?path=kept`)).body.content).toBe('kept');
});

test('a prompt that was running at a kill continues with the interrupted block', async () => {
  const before = await startService();
  const id = await before.ready();
  const blocks = ['echo begun >> log; echo one', 'echo cut >> log; test -e go || { touch go; sleep 600; }; echo two'];
  const prompt = blocks.map((block) => `\`\`\`sh\n${block}\n\`\`\``).join('\n');
  const running = (await before.prompt(id, prompt, { new: true })).body;
  const { conversationId } = running;
  const queued = (await before.prompt(id, '```sh\necho second >> log\n```', { conversationId })).body;
  const file = (under: ServiceUnderTest, path: string) => under.call('GET', `/sandboxes/${id}/files?path=${path}`);
  await expect.poll(async () => (await file(before, 'go')).status).toBe(200);
  const after = await startService({ directory: await killedCopy(before) });
  const ended = await after.promptEnd(id, running.promptId);
  expect(ended).toMatchObject({ status: 'completed', result: 'one\ntwo\n' });
  expect((await after.promptEnd(id, queued.promptId)).status).toBe('completed');
  expect((await file(after, 'log')).body.content).toBe('begun\ncut\ncut\nsecond\n');
  await after.reach(id, 'idle');
  const { events } = (await after.call('GET', `/sandboxes/${id}/events`)).body;
  const starts = events.filter(({ type, promptId }) => type === 'prompt.started' && promptId === running.promptId);
  expect(starts).toHaveLength(1);
});

test('S3: an interrupted prompt of a command agent fails, because running it again could repeat its work', async () => {
  const command = 'cat > /dev/null; echo begun >> log; sleep 600';
  const options = { commandAgents: { codex: { command } } };
  const before = await startService(options);
  const id = await before.ready();
  const { promptId } = (await before.prompt(id, 'work', { new: true })).body;
  const log = (under: ServiceUnderTest) => under.call('GET', `/sandboxes/${id}/files?path=log`);
  await expect.poll(async () => (await log(before)).status).toBe(200);
  const after = await startService({ ...options, directory: await killedCopy(before) });
  const failed = await after.promptEnd(id, promptId);
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('restarted') });
  expect((await log(after)).body.content).toBe('begun\n');
});

test('an unacknowledged delivery continues after a kill, with its id and its next attempt', async () => {
  let answers = false;
  const receiver = await startReceiver((response) => void response.writeHead(answers ? 200 : 503).end());
  const before = await startService({ timings: { webhookRetryMs: 3_600_000 } });
  const { id: webhookId } = await register(before, receiver.url, ['sandbox.ready']);
  await before.ready();
  const [first] = await receiver.waitFor(1);
  await expect.poll(() => before.service.books.deliveries().length).toBe(1);
  const directory = await killedCopy(before);
  answers = true;
  const after = await startService({ directory });
  expect(receiver.received).toHaveLength(1);
  await after.service.clock.advance(3_700_000);
  const [, second] = await receiver.waitFor(2);
  expect(second?.body).toEqual(first?.body);
  expect(second?.headers['x-svc-attempt']).toBe('2');
  await expect.poll(() => after.service.books.summary().queuedDeliveries).toBe(0);
  expect((await after.call('GET', `/webhooks/${webhookId}`)).status).toBe(200);
});

test('a setup script that was running at a kill has failed, and says so', async () => {
  const before = await startService();
  const id = await before.ready({ setupScript: 'echo once >> log; sleep 600' });
  const log = (under: ServiceUnderTest) => under.call('GET', `/sandboxes/${id}/files?path=log`);
  await expect.poll(async () => (await log(before)).status).toBe(200);
  const after = await startService({ directory: await killedCopy(before) });
  const sandboxOf = async () => (await after.call('GET', `/sandboxes/${id}`)).body.sandbox;
  await expect.poll(async () => (await sandboxOf()).setupStatus).toBe('failed');
  expect((await sandboxOf()).setupError).toContain('restarted');
  expect((await log(after)).body.content).toBe('once\n');
});

test('work that a graceful end interrupts continues at the next start too', async () => {
  const before = await startService({ timings: { archiveMs: 100 } });
  const [setting, stopping] = [await before.ready({ setupScript: 'touch begun; sleep 600' }), await before.ready()];
  const begun = () => before.call('GET', `/sandboxes/${setting}/files?path=begun`);
  await expect.poll(async () => (await begun()).status).toBe(200);
  await before.call('POST', `/sandboxes/${stopping}/stop`);
  await before.service.close();
  const after = await startService({ directory: before.directory });
  await after.reach(stopping, 'archived');
  const setupOf = async () => (await after.call('GET', `/sandboxes/${setting}`)).body.sandbox.setupStatus;
  await expect.poll(setupOf).toBe('failed');
});

test('a deletion in progress is completed after a kill', async () => {
  const before = await startService({ timings: { deleteMs: 300 } });
  const id = await before.ready();
  const { body } = await before.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } });
  const after = await startService({ directory: await killedCopy(before) });
  const status = async () => (await after.call('GET', `/deletion-operations/${body.operationId}`)).body.status;
  await expect.poll(status).toBe('completed');
});

test('armed faults and unread cancelled sandboxes survive a restart', async () => {
  const before = await startService();
  await before.arm({ kind: 'create_cancelled' });
  const id = await before.create();
  await expect.poll(() => before.service.books.sandboxes()[0]?.state).toBe('cancelled');
  await before.arm({ kind: 'error', endpoint: 'getMe', status: 503, times: 2 });
  const after = await startService({ directory: await killedCopy(before) });
  expect((await after.call('GET', '/me')).status).toBe(503);
  expect((await after.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('cancelled');
  expect((await after.call('GET', `/sandboxes/${id}`)).status).toBe(404);
});

test('a port in use and an unknown provider are named', async () => {
  const under = await startService();
  const port = Number(new URL(under.service.url).port);
  await expect(startService({ port })).rejects.toMatchObject({ code: 'port_in_use' });
  await expect(startService({ scriptedProviders: ['nobody'] })).rejects.toMatchObject({ code: 'bad_configuration' });
});

test('a second service on the same directory is refused', async () => {
  const under = await startService();
  await expect(startService({ directory: under.directory })).rejects.toMatchObject({ code: 'directory_in_use' });
});

test('a reset removes everything, and the service continues', async () => {
  const under = await startService();
  await register(under, 'http://127.0.0.1:9/');
  const id = await under.ready({ setupScript: 'sleep 600' });
  await under.prompt(id, '```sh\nsleep 600\n```');
  await under.arm({ kind: 'error', endpoint: 'getMe', status: 503 });
  await under.service.reset();
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
  expect((await under.call('GET', '/webhooks')).body.webhooks).toEqual([]);
  expect((await under.call('GET', '/me')).status).toBe(200);
  expect(under.service.books.prompts()).toEqual([]);
  await under.ready();
});

test('a replaced key opens nothing until the service is started with it again', async () => {
  const keys = ['the-first-key-of-the-service', 'the-second-key-of-the-service'] as const;
  const statusWith = async (under: ServiceUnderTest, key: string) =>
    (await under.call('GET', '/sandboxes', { headers: { authorization: `Bearer ${key}` } })).status;
  let under = await startService({ apiKey: keys[0] });
  for (const [used, other] of [keys, [keys[1], keys[0]], keys] as const) {
    under = await startService({ apiKey: used, directory: await killedCopy(under) });
    expect([await statusWith(under, used), await statusWith(under, other)]).toEqual([200, 401]);
  }
});

test('two services share nothing', async () => {
  const [one, other] = await Promise.all([startService(), startService()]);
  expect(one.service.url).not.toBe(other.service.url);
  const id = await one.ready();
  one.service.clock.hold();
  await one.service.clock.advance(86_400_000);
  expect((await other.call('GET', `/sandboxes/${id}`)).status).toBe(404);
  expect(other.service.clock.now()).toBeLessThan(one.service.clock.now() - 80_000_000);
  await one.service.reset();
  expect((await other.call('GET', '/sandboxes')).status).toBe(200);
});
