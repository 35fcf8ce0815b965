import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiKey, type ServiceUnderTest, startService } from '../service-under-test.js';
import { isSignedWith, startReceiver } from '../webhooks/receiver.js';

const machines = async ({ directory }: ServiceUnderTest): Promise<string[]> =>
  (await Promise.all(['disks', 'snapshots'].map((name) => readdir(join(directory, 'machines', name))))).flat();

test('a document creates sandboxes in given states, with files and snapshots, and sends no event', async () => {
  const under = await startService();
  const receiver = await startReceiver();
  const seeded = await under.service.seed({
    version: 1,
    webhooks: [{ name: 'all', url: receiver.url, events: ['sandbox.ready', 'sandbox.archived', 'sandbox.error'] }],
    sandboxes: [
      { id: 'bx_seeded22', name: 'ready', ttlSeconds: 60, files: { 'a/b.txt': 'text', bytes: { base64: '/wA=' } } },
      {
        name: 'kept',
        state: 'archived',
        files: { 'c.txt': 'last' },
        snapshots: [{ name: 'first', files: { 'c.txt': 'early' } }],
      },
      { name: 'broken', state: 'error', error: 'no power' },
      { id: 'bx_dead2222', name: 'gone', state: 'cancelled' },
    ],
  });
  expect(seeded.sandboxes).toMatchObject([
    { id: 'bx_seeded22' },
    { name: 'kept' },
    { name: 'broken' },
    { name: 'gone' },
  ]);
  const read = async (id: string, path: string) =>
    (await under.call('GET', `/sandboxes/${id}/files?path=${path}`)).body;
  expect(await read('bx_seeded22', 'a/b.txt')).toMatchObject({ content: 'text' });
  expect(await read('bx_seeded22', 'bytes')).toMatchObject({ content: '/wA=', encoding: 'base64' });
  const listed = (await under.call('GET', '/sandboxes')).body.sandboxes;
  expect(listed.map(({ state, error }) => [state, error])).toEqual([
    ['ready', null],
    ['archived', null],
    ['error', 'no power'],
  ]);
  expect(listed[1]?.stop?.status).toBe('completed');
  expect((await under.call('GET', '/sandboxes/bx_dead2222')).body.sandbox.state).toBe('cancelled');
  expect((await under.call('GET', '/sandboxes/bx_dead2222')).status).toBe(404);
  const kept = seeded.sandboxes[1]?.id ?? '';
  await under.call('POST', `/sandboxes/${kept}/resume`);
  await under.reach(kept, 'ready');
  expect(await read(kept, 'c.txt')).toMatchObject({ content: 'last' });
  const early = await under.ready({ from: 'first' });
  expect(await read(early, 'c.txt')).toMatchObject({ content: 'early' });
  const events = await receiver.waitFor(2);
  expect(events.map(({ body }) => body.data.sandbox.id)).toEqual([kept, early]);
  expect(events[0] && isSignedWith(seeded.webhooks[0]?.secret ?? '', events[0])).toBe(true);
});

test('a seeded sandbox that is being created becomes usable in its time', async () => {
  const under = await startService({ timings: { initMs: 60_000 } });
  under.service.clock.hold();
  const { sandboxes } = await under.service.seed({ version: 1, sandboxes: [{ name: 'new', state: 'init' }] });
  const id = sandboxes[0]?.id ?? '';
  expect((await under.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('init');
  await under.service.clock.advance(59_000);
  expect((await under.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('init');
  await under.service.clock.advance(61_000);
  await under.reach(id, 'ready');
});

test('a seeded sandbox stops automatically and its data expires at the given time', async () => {
  const under = await startService();
  const archivedAt = new Date(under.service.clock.now() - 13 * 86_400_000).toISOString();
  const { sandboxes } = await under.service.seed({
    version: 1,
    sandboxes: [
      { name: 'short', ttlSeconds: 60 },
      { name: 'old', state: 'archived', archivedAt },
    ],
  });
  await under.service.clock.advance(120_000);
  await under.reach(sandboxes[0]?.id ?? '', 'archived');
  await under.service.clock.advance(2 * 86_400_000);
  expect(await under.call('POST', `/sandboxes/${sandboxes[1]?.id}/resume`)).toMatchObject({
    status: 409,
    body: { code: 'snapshot_data_expired' },
  });
});

test('a document can contain accounts, organizations and environments', async () => {
  const under = await startService();
  const { accounts, sandboxes } = await under.service.seed({
    version: 1,
    accounts: [{ login: 'ada', apiKey: 'a-key-of-ada-that-is-long' }, { login: 'ben' }],
    teams: [{ name: 'Team', members: ['ada', 'ben'] }],
    environments: [{ name: 'Node', account: 'ada', envContents: 'A=1' }],
    sandboxes: [{ name: 'of ada', account: 'ada', environment: 'Node' }],
  });
  const headers = { authorization: `Bearer ${accounts[0]?.apiKey}` };
  const seen = await under.call('GET', `/sandboxes/${sandboxes[0]?.id}`, { headers });
  expect(seen.body.sandbox).toMatchObject({
    environment: 'Node',
    environmentVersion: 1,
    access: 'owner',
    team: { name: 'Team' },
  });
  expect((await under.call('GET', `/sandboxes/${sandboxes[0]?.id}`)).status).toBe(404);
});

test.each([
  ['a field that nobody knows', { version: 1, sandbox: [] }, /sandbox/],
  [
    'a state that cannot be seeded',
    { version: 1, sandboxes: [{ name: 'x', state: 'running' }] },
    /sandboxes\.0\.state/,
  ],
  ['an invalid id', { version: 1, sandboxes: [{ id: 'bx_1', name: 'x' }] }, /sandboxes\.0\.id/],
  [
    'an id twice',
    {
      version: 1,
      sandboxes: [
        { id: 'bx_seeded22', name: 'x' },
        { id: 'bx_seeded22', name: 'y' },
      ],
    },
    /sandboxes\.1\.id/,
  ],
  ['a file outside', { version: 1, sandboxes: [{ name: 'x', files: { '../../x': '' } }] }, /\.\.\/\.\.\/x/],
  ['an account that nobody has', { version: 1, sandboxes: [{ name: 'x', account: 'nobody' }] }, /nobody/],
  ['an unknown environment', { version: 1, sandboxes: [{ name: 'x', files: { a: '' }, environment: 'none' }] }, /none/],
  [
    'a URL that is not allowed',
    { version: 1, webhooks: [{ name: 'x', url: 'http://10.0.0.1/', events: ['sandbox.ready'] }] },
    /https/,
  ],
  ['another version', { version: 2 }, /version/],
  ['no object', 'seed', /document/],
])('%s is refused with the reason, and nothing of the document is added', async (_what, wrong, says) => {
  const under = await startService();
  const document = typeof wrong === 'string' ? wrong : { ...wrong, accounts: [{ login: 'ada' }] };
  const refused = await under.call('POST', '/seed', { body: document, admin: true });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.status).toBeLessThan(500);
  expect(refused.body.message).toMatch(says);
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
  expect(under.service.accounts.list().map(({ login }) => login)).not.toContain('ada');
  expect(await machines(under)).toEqual([]);
});

test('a seed with an existing sandbox changes nothing', async () => {
  const under = await startService();
  const document = {
    version: 1,
    sandboxes: [{ name: 'new' }, { id: 'bx_seeded22', name: 'x', files: { a: 'first' } }],
  };
  await under.service.seed(document);
  await expect(under.service.seed(document)).rejects.toMatchObject({ code: 'bad_seed', status: 400 });
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toHaveLength(2);
  expect((await under.call('GET', '/sandboxes/bx_seeded22/files?path=a')).body.content).toBe('first');
  expect(await machines(under)).toHaveLength(2);
});

test('calls are answered while a seed makes disks, and see it as a whole afterwards', async () => {
  const under = await startService();
  const heard: string[] = [];
  const listed = async (): Promise<number> => (await under.call('GET', '/sandboxes')).body.sandboxes.length;
  await under.service.seed(
    { version: 1, sandboxes: [{ name: 'one' }, { name: 'two', state: 'archived' }] },
    // The seed waits for this.
    { onProgress: async (made, of) => void heard.push(`${made} of ${of}, ${await listed()} listed`) },
  );
  expect(heard).toEqual(['1 of 2, 0 listed', '2 of 2, 0 listed']);
  expect(await listed()).toBe(2);
});

test('of two seeds of one id at a time, one succeeds, and the other leaves no disk', async () => {
  const under = await startService();
  const seedWith = (text: string, onProgress?: () => void) =>
    under.service.seed(
      {
        version: 1,
        sandboxes: [
          { name: 'kept', state: 'archived' },
          { id: 'bx_seeded22', name: text, files: { a: text } },
        ],
      },
      { onProgress },
    );
  let second: Promise<unknown> | undefined;
  await seedWith('first', () => {
    second ??= seedWith('second');
  });
  await expect(second).rejects.toMatchObject({ code: 'bad_seed' });
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toHaveLength(2);
  expect((await under.call('GET', '/sandboxes/bx_seeded22/files?path=a')).body.content).toBe('first');
  expect(await machines(under)).toHaveLength(2);
});

test('a reset during a seed waits for it, and then leaves nothing', async () => {
  const under = await startService();
  let reset: Promise<void> | undefined;
  const onProgress = (): void => {
    reset ??= under.service.reset();
  };
  await under.service.seed({ version: 1, sandboxes: [{ name: 'one' }, { name: 'two' }] }, { onProgress });
  await reset;
  expect((await under.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
  expect(await machines(under)).toEqual([]);
});

test('who asks for lines hears of each sandbox, then the answer or the refusal', async () => {
  const under = await startService();
  const linesOf = async (body: unknown): Promise<Record<string, unknown>[]> => {
    const { text } = await under.call('POST', '/seed', {
      body,
      admin: true,
      headers: { accept: 'application/x-ndjson' },
    });
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const document = { version: 1, sandboxes: [{ name: 'one' }, { id: 'bx_seeded22', name: 'two' }] };
  expect(await linesOf(document)).toMatchObject([
    { made: 1, of: 2 },
    { made: 2, of: 2 },
    { ok: true, sandboxes: [{ name: 'one' }, { id: 'bx_seeded22' }] },
  ]);
  expect(await linesOf(document)).toMatchObject([
    { made: 1, of: 2 },
    { ok: false, status: 400, code: 'bad_seed', requestId: expect.stringMatching(/^req_/) },
  ]);
});

test('a seed whose caller leaves goes on', async () => {
  const under = await startService();
  const leave = new AbortController();
  const { body } = await fetch(`${under.service.adminUrl}/seed`, {
    method: 'POST',
    body: JSON.stringify({ version: 1, sandboxes: Array.from({ length: 50 }, (_, n) => ({ name: `${n}` })) }),
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/x-ndjson' },
    signal: leave.signal,
  });
  await body?.getReader().read();
  leave.abort();
  await expect.poll(async () => (await under.call('GET', '/sandboxes')).body.sandboxes).toHaveLength(50);
});

test('the example of a seed is valid', async () => {
  const under = await startService();
  const text = await readFile(new URL('../../../../examples/seed.json', import.meta.url), 'utf8');
  await under.service.seed(JSON.parse(text));
  const { body } = await under.call('GET', '/sandboxes');
  expect(body.sandboxes.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
    'forgotten archived',
    'reports ready',
    'toolchain archived',
    'website ready',
  ]);
});
