import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { apiKey, emptyDirectory, type ServiceUnderTest, startService } from '../service-under-test.js';
import { register, startReceiver } from '../webhooks/receiver.js';

const stateNames = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => /^(incoming|outgoing|import)/.test(name));

async function withTwoSandboxes(under: ServiceUnderTest): Promise<{ live: string; archived: string }> {
  const live = await under.ready({ name: 'live', ttlSeconds: 3600 });
  await under.call('PUT', `/sandboxes/${live}/files`, { body: { path: 'notes/a.txt', content: 'kept' } });
  await under.call('POST', `/sandboxes/${live}/commands`, {
    body: { command: 'ln -s a.txt notes/link; chmod 750 notes' },
  });
  const archived = await under.ready({ name: 'archived' });
  await under.call('PUT', `/sandboxes/${archived}/files`, { body: { path: 'b.txt', content: 'snapped' } });
  await under.archive(archived);
  return { live, archived };
}

test('an import into another service restores every record, disk, snapshot and the clock', async () => {
  const [from, to] = [await startService(), await startService()];
  const { live, archived } = await withTwoSandboxes(from);
  const prompt = await from.prompt(live, 'hello');
  await from.promptEnd(live, prompt.body.promptId);
  from.service.clock.hold();
  await from.service.clock.advance((3 * 3_600_000) / 2);
  const lost = await to.ready({ name: 'not of the export' });
  const archive = await buffer(await from.service.export());
  const imported = await to.service.import(Readable.from([archive]));
  expect(imported).toMatchObject({ sandboxes: 2, snapshots: 2 });
  expect(to.service.clock.now()).toBe(from.service.clock.now());
  expect((await to.call('GET', `/sandboxes/${lost}`)).status).toBe(404);
  const names = (await to.call('GET', '/sandboxes')).body.sandboxes.map(({ name }) => name);
  expect(names).toEqual(['live', 'archived']);
  expect((await to.call('GET', `/sandboxes/${live}/prompts/${prompt.body.promptId}`)).body.prompt.status).toBe(
    'completed',
  );
  to.service.clock.release();
  await to.call('POST', `/sandboxes/${archived}/resume`);
  await to.reach(archived, 'ready');
  expect((await to.call('GET', `/sandboxes/${archived}/files?path=b.txt`)).body.content).toBe('snapped');
  await expect.poll(() => stateNames(from.directory)).toEqual([]);
  await expect.poll(() => stateNames(to.directory)).toEqual([]);
});

test('a disk keeps its files, links and modes through export and import', async () => {
  const [from, to] = [await startService(), await startService()];
  const { live } = await withTwoSandboxes(from);
  await to.service.import(await from.service.export());
  const { body } = await to.call('POST', `/sandboxes/${live}/commands`, {
    body: { command: 'cat notes/link; readlink notes/link; stat -c %a notes' },
  });
  expect(body.stdout).toBe('kepta.txt\n750\n');
});

test('open work continues after an import', async () => {
  const [from, to] = [await startService({ timings: { webhookRetryMs: 3_600_000 } }), await startService()];
  const receiver = await startReceiver(
    (response, _delivery, number) => void response.writeHead(number === 1 ? 500 : 204).end(),
  );
  await register(from, receiver.url, ['sandbox.ready']);
  const id = await from.ready();
  await receiver.waitFor(1);
  await expect.poll(() => from.service.books.deliveries({ sandboxId: id }).length).toBe(1);
  await to.service.import(await from.service.export());
  await to.service.clock.advance(3_700_000);
  const [first, second] = await receiver.waitFor(2);
  expect(second?.body).toEqual(first?.body);
});

test('an import ends what ran before, and the service accepts calls again', async () => {
  const [from, to] = [await startService(), await startService()];
  await from.ready({ name: 'mine' });
  const id = await to.ready();
  const running = to.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'touch begun; sleep 600' } });
  await expect.poll(async () => (await to.call('GET', `/sandboxes/${id}/files?path=begun`)).status).toBe(200);
  await to.service.import(await from.service.export());
  await running;
  await to.ready({ name: 'after' });
  expect((await to.call('GET', '/sandboxes')).body.sandboxes.map(({ name }) => name)).toEqual(['mine', 'after']);
});

test.each([
  ['no archive at all', async () => Buffer.from('nothing of the kind')],
  ['an archive that was cut off', async (whole: Buffer) => whole.subarray(0, whole.length / 2)],
  ['an archive whose last bytes are missing', async (whole: Buffer) => whole.subarray(0, whole.length - 12)],
  ['nothing', async () => Buffer.alloc(0)],
])('%s is refused, and the state is unchanged', async (_what, damage) => {
  const under = await startService();
  const { live } = await withTwoSandboxes(under);
  const archive = await damage(await buffer(await under.service.export()));
  await expect(under.service.import(Readable.from([archive]))).rejects.toMatchObject({
    code: 'bad_archive',
    status: 400,
  });
  expect((await under.call('GET', `/sandboxes/${live}/files?path=notes/a.txt`)).body.content).toBe('kept');
  await expect.poll(() => stateNames(under.directory)).toEqual([]);
});

test('an interrupted upload is refused, and the state is unchanged', async () => {
  const under = await startService();
  const { live } = await withTwoSandboxes(under);
  const whole = await buffer(await under.service.export());
  const upload = new PassThrough();
  upload.write(whole.subarray(0, 512));
  const importing = under.service.import(upload);
  upload.destroy(new Error('the caller is gone'));
  await expect(importing).rejects.toMatchObject({ code: 'bad_archive' });
  expect((await under.call('GET', `/sandboxes/${live}`)).body.sandbox.state).toBe('ready');
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

test('the routes under /_local export, import and reset', async () => {
  const under = await startService();
  await under.ready({ name: 'kept' });
  const headers = { authorization: `Bearer ${apiKey}` };
  const exported = await fetch(`${under.service.adminUrl}/export`, { headers });
  expect(exported.headers.get('content-type')).toBe('application/gzip');
  const body = await exported.arrayBuffer();
  expect((await under.call('POST', '/reset', { admin: true })).status).toBe(200);
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
  const gzip = { ...headers, 'content-type': 'application/gzip' };
  const imported = await fetch(`${under.service.adminUrl}/import`, { method: 'POST', headers: gzip, body });
  expect(await imported.json()).toMatchObject({ ok: true, type: 'local.imported', sandboxes: 1 });
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toMatchObject([{ name: 'kept' }]);
});

test('the next start removes what a killed export or import left', async () => {
  const directory = await emptyDirectory();
  await writeFile(join(directory, 'incoming-x'), '');
  await writeFile(join(directory, 'outgoing-y'), '');
  await startService({ directory });
  expect(await stateNames(directory)).toEqual([]);
});
