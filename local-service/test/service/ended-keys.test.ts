/** What a key opened ends when the key does. Tier: all, about 45 s. */
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { get, request } from 'node:http';
import { Duplex } from 'node:stream';
import type { Client } from 'ssh2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type People, type Person, startPeople } from '../conformance/target/index.js';
import { lacks, openDesktop, webSocket } from './desktop-fixture.js';
import { askHosted, openHosted, portUrl, upgradeHosted } from './hosted-url.js';
import { closedOf, connect, keyPair, run } from './ssh/ssh-fixture.js';

const actions = ['sandbox.read', 'file.read', 'host', 'ssh', 'desktop'] as const;
const [ofKey, ofOwner] = [keyPair(), keyPair()];

/** Ann's sandbox, which ben may use by a key of an hour. */
async function shared(isolation: 'plain' | 'bubblewrap' = 'plain') {
  const people = await startPeople({ isolation });
  const { ann, ben } = people;
  // It passes no logins, so the sandbox is shared.
  people.local.service.setup.createEnvironment({ name: 'plain' }, ann.accountId);
  const id = await ann.ready({ environment: 'plain' });
  const { body } = await ben.call('POST', '/api-keys/scoped', {
    body: { name: 'k', actions, ttlSeconds: 3_600 },
    key: ben.session,
  });
  const { apiKey, secret } = body as unknown as { readonly apiKey: { readonly id: string }; readonly secret: string };
  return { people, ann, ben, id, keyId: apiKey.id, key: people.as(secret) };
}
type Shared = Awaited<ReturnType<typeof shared>>;

const ways: Readonly<Record<string, (given: Shared) => Promise<unknown>>> = {
  expires: ({ people }) => people.local.service.clock.advance(3_600_000),
  'is revoked': ({ ben, keyId }) => ben.call('DELETE', `/api-keys/${keyId}`, { key: ben.session }),
  'is rotated': ({ ben, keyId }) => ben.call('POST', `/api-keys/${keyId}/rotate`, { key: ben.session }),
  'loses the sandbox, because it is made private': ({ ann, id }) => ann.call('POST', `/sandboxes/${id}/unshare`),
  'loses the sandbox, because its account leaves': async ({ people }) =>
    people.local.service.accounts.createTeam({ name: 'Other', members: ['ben'] }),
};

async function sshPort({ call }: Pick<Person, 'call'>, id: string, pair: typeof ofKey): Promise<number> {
  const { status, body } = await call('POST', `/sandboxes/${id}/sshkey`, { body: { publicKey: pair.publicKey.text } });
  expect(status).toBe(200);
  return Number(body.sshEndpoint?.split(':')[1]);
}

/** A server in the sandbox that sends the beginning of an answer, and no more. */
const slowServer = `perl -MIO::Socket::INET -e '
  my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die;
  open(my $f, ">", "port.new"); print $f $s->sockport; close $f; rename "port.new", "port";
  while (my $c = $s->accept) { next if fork; $c->autoflush(1); print $c "HTTP/1.1 200 Ok\\r\\n\\r\\nfirst "; sleep 600; exit }' >/dev/null 2>&1 &
  until [ -e port ]; do sleep 0.02; done; cat port`;

async function hostedUrl({ call }: Pick<Person, 'call'>, ann: Person, id: string): Promise<URL> {
  const { body } = await ann.call('POST', `/sandboxes/${id}/commands`, { body: { command: slowServer } });
  return portUrl((await call('GET', `/sandboxes/${id}`)).body.sandbox.url ?? '', Number(body.stdout));
}

/** What stays open: each opens it with the key, and says when it has ended, and whether it can be opened again. */
const opened: Readonly<
  Record<
    string,
    (given: Shared) => Promise<{ readonly ended: () => Promise<unknown>; readonly again: () => Promise<boolean> }>
  >
> = {
  async 'an SSH session'({ key, id }) {
    const port = await sshPort(key, id, ofKey);
    const client = await connect(port, ofKey);
    expect((await run(client, 'echo in')).stdout).toBe('in\n');
    const closed = closedOf(client);
    return { ended: () => closed, again: () => mayConnect(port) };
  },
  async 'a hosted port'({ key, ann, id }) {
    const url = await hostedUrl(key, ann, id);
    const stream = await openHosted(url);
    const ended = new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));
    stream.resume();
    return { ended: () => ended, again: async () => (await askHosted(url)).status !== 401 };
  },
  async 'a download'({ key, ann, id }) {
    const name = `${id}.bin`;
    await ann.call('POST', `/sandboxes/${id}/commands`, { body: { command: `truncate -s 256M ${name}` } });
    // Nobody reads it, so it would last.
    const asked = get(`${key.url}/sandboxes/${id}/artifacts?path=${name}`, {
      headers: { authorization: `Bearer ${key.key}` },
    });
    onTestFinished(() => void asked.destroy());
    const [answer] = await once(asked, 'response');
    expect(answer.statusCode).toBe(200);
    expect(openFiles(name)).toHaveLength(1);
    const ended = () => expect.poll(() => openFiles(name)).toEqual([]);
    return { ended, again: async () => (await key.call('GET', `/sandboxes/${id}/processes`)).status === 200 };
  },
};

/** Open files with this name in this process, which includes the service. */
function openFiles(name: string): string[] {
  const targetOf = (fd: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter((fd) => targetOf(fd).endsWith(name));
}

const mayConnect = (port: number) =>
  connect(port, ofKey).then(
    () => true,
    () => false,
  );

describe.each(Object.entries(ways))('a key that %s', (_, end) => {
  it.skipIf(lacks.length > 0)('ends a public desktop that it opened, which needs no token', async () => {
    const given = await shared('bubblewrap');
    const { key, id } = given;
    const url = await openDesktop(key, id, '?vnc=1', { publicAccess: true });
    const watch = () => upgradeHosted(url, webSocket);
    const stream = await watch();
    if (!(stream instanceof Duplex)) throw new Error(`The desktop answered ${stream}.`);
    const ended = new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));
    stream.resume();
    await end(given);
    await ended;
    expect(await watch()).toBe(401);
  });

  const rows = Object.entries(opened).filter(([what]) => what !== 'a download' || process.platform === 'linux');
  it.each(rows)('ends %s that it opened', async (_what, open) => {
    const given = await shared();
    const { ended, again } = await open(given);
    await end(given);
    await ended();
    expect(await again()).toBe(false);
  });

  it('lets nobody in by its SSH key after a stop and a resume, and ends nothing of others', async () => {
    const given = await shared();
    const { key, ann, id } = given;
    await sshPort(key, id, ofKey);
    const others = await connect(await sshPort(ann, id, ofOwner), ofOwner);
    await end(given);
    expect((await run(others, 'echo in')).stdout).toBe('in\n');
    const over = closedOf(others as Client);
    await ann.archive(id);
    await over;
    await ann.call('POST', `/sandboxes/${id}/resume`);
    const { sshEndpoint } = await ann.reach(id, 'ready');
    const port = Number(sshEndpoint?.split(':')[1]);
    expect(await mayConnect(port)).toBe(false);
    expect((await run(await connect(port, ofOwner), 'echo in')).stdout).toBe('in\n');
  });
});

it('work that was accepted goes on after its key: a command that runs, and a prompt', async () => {
  const { people, ben, id, keyId, ann } = await shared();
  const { body } = await ben.call('POST', '/api-keys/scoped', {
    body: { name: 'p', actions: ['agent.prompt'], ttlSeconds: 3_600 },
    key: ben.session,
  });
  const { apiKey, secret } = body as unknown as { readonly apiKey: { readonly id: string }; readonly secret: string };
  const sent = await (people as People)
    .as(secret)
    .prompt(id, '```sh\nuntil [ -e go ]; do sleep 0.02; done; echo done\n```');
  expect(sent.status).toBe(202);
  for (const one of [keyId, apiKey.id]) {
    expect((await ben.call('DELETE', `/api-keys/${one}`, { key: ben.session })).status).toBe(200);
  }
  await ann.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'touch go' } });
  expect(await ann.promptEnd(id, sent.body.promptId)).toMatchObject({ status: 'completed' });
});

it('an SSH key that an API key replaces is its own: that of another key of the account stays', async () => {
  const { key, ben, id, keyId } = await shared();
  await sshPort(ben, id, ofOwner);
  const port = await sshPort(key, id, ofKey);
  expect((await run(await connect(port, ofKey), 'echo in')).stdout).toBe('in\n');
  const mine = await connect(port, ofOwner);
  await ben.call('DELETE', `/api-keys/${keyId}`, { key: ben.session });
  await expect.poll(() => mayConnect(port)).toBe(false);
  expect((await run(mine, 'echo in')).stdout).toBe('in\n');
});

it.each(['is revoked', 'is rotated', 'expires'] as const)(
  'a request whose body ends after its key %s changes nothing',
  async (way) => {
    const given = await shared();
    const { key, ann, id } = given;
    const body = JSON.stringify({ publicKey: ofKey.publicKey.text });
    const headers = { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' };
    const asked = request(`${key.url}/sandboxes/${id}/sshkey`, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    const answered = once(asked, 'response');
    asked.write(body.slice(0, 10));
    const used = async () =>
      JSON.stringify((await given.ben.call('GET', `/api-keys/${given.keyId}/usage`, { key: given.ben.session })).body);
    await expect.poll(used).toMatch(/"requests":1\b/);
    await ways[way]?.(given);
    asked.end(body.slice(10));
    const [answer] = await answered;
    answer.resume();
    expect([401, 403]).toContain(answer.statusCode);
    const { sshEndpoint } = (await ann.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(await mayConnect(Number(sshEndpoint?.split(':')[1]))).toBe(false);
  },
);
