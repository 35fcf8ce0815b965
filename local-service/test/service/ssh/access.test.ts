import { readdirSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import ssh2, { type Client, type ConnectConfig, type ParsedKey } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { ownSandboxId, runningWith, usableIsolations } from '../machine/machine-fixture.js';
import { closedOf, connect, exec, keyPair, outcomeOf, run, sshUnderTest } from './ssh-fixture.js';

const otherId = 'bx_efgh2345';
const [registered, stranger] = [keyPair(), keyPair()];
const isolation = 'plain';
const refusedMessage = 'All configured authentication methods failed';

describe('access to a sandbox by SSH', () => {
  it.each(['ed25519', 'ecdsa', 'rsa'] as const)('is granted with a registered %s key', async (type) => {
    const pair = keyPair(type);
    const { port } = await sshUnderTest(isolation, [stranger, pair]);
    expect((await run(await connect(port, pair), 'echo in')).stdout).toBe('in\n');
  });

  it.each([
    ['another key', { privateKey: stranger.privateKey }],
    ['a password', { password: 'sandbox' }],
    ['nothing', {}],
    ['keyboard answers', { tryKeyboard: true, password: 'sandbox' }],
  ])('is refused with %s', async (_what, options: Partial<ConnectConfig>) => {
    const { port } = await sshUnderTest(isolation, [registered]);
    await expect(connect(port, options)).rejects.toThrow(refusedMessage);
  });

  it('is refused with a registered key and a signature by another', async () => {
    const { port } = await sshUnderTest(isolation, [registered]);
    const forged = parsed(registered.privateKey);
    expect((await run(await connectWith(port, forged), 'echo in')).stdout).toBe('in\n');
    const [wrong, data] = [parsed(stranger.privateKey), Buffer.from('x')];
    expect(forged.verify(data, wrong.sign(data))).not.toBe(true);
    forged.sign = (signed) => wrong.sign(signed);
    await expect(connectWith(port, forged)).rejects.toThrow(refusedMessage);
    const empty = parsed(registered.privateKey);
    empty.sign = () => Buffer.alloc(3);
    await expect(connectWith(port, empty)).rejects.toThrow(refusedMessage);
  });

  it('is refused without a registered key, and with the key of another sandbox', async () => {
    const { port, server, host } = await sshUnderTest(isolation, []);
    await expect(connect(port, registered)).rejects.toThrow(refusedMessage);
    await host.createDisk(otherId);
    const other = await server.open(otherId, () => [stranger.publicKey]);
    expect(other.port).not.toBe(port);
    await server.open(ownSandboxId, () => [registered.publicKey]);
    await expect(connect(other.port, registered)).rejects.toThrow(refusedMessage);
    expect((await run(await connect(other.port, stranger), 'echo $SANDBOX_ID')).stdout).toBe(`${otherId}\n`);
  });

  it('ends for clients of a removed key, and for no others', async () => {
    const { port, server, directory } = await sshUnderTest(isolation, [registered, stranger]);
    const [leaving, staying] = [await connect(port, registered), await connect(port, stranger)];
    const mark = String(100_000_000 + Math.floor(Math.random() * 800_000_000));
    await exec(leaving, `sleep ${mark}; :`);
    const kept = await exec(staying, 'cat');
    await expect.poll(() => runningWith(mark)).not.toEqual([]);
    const closed = closedOf(leaving);
    await server.open(ownSandboxId, () => [stranger.publicKey]);
    expect(runningWith(mark)).toEqual([]);
    await closed;
    await expect(connect(port, registered)).rejects.toThrow(refusedMessage);
    const outcome = outcomeOf(kept);
    kept.end('still here');
    expect((await outcome).stdout).toBe('still here');
    await expect.poll(() => readdirSync(join(directory, 'processes'))).toEqual([]);
  });

  it('requires no signature for a key that is not registered', async () => {
    const { port } = await sshUnderTest(isolation, [registered]);
    let signed = 0;
    const counting = (privateKey: string): ParsedKey => {
      const key = parsed(privateKey);
      const sign = key.sign.bind(key);
      key.sign = (data, algorithm) => {
        signed += 1;
        return sign(data, algorithm);
      };
      return key;
    };
    await expect(connectWith(port, counting(stranger.privateKey))).rejects.toThrow(refusedMessage);
    expect(signed).toBe(0);
    await connectWith(port, counting(registered.privateKey));
    expect(signed).toBe(1);
  });

  it.each(['password', 'none'] as const)('ends after too many refusals (%s)', async (type) => {
    const { port, logged } = await sshUnderTest(isolation, [registered], { maxTries: 3 });
    const tried: number[] = [];
    const client = new ssh2.Client();
    client.on('error', () => undefined);
    const closed = closedOf(client);
    client.connect({
      host: '127.0.0.1',
      port,
      username: 'user',
      authHandler: (_left, _partial, next) => {
        tried.push(tried.length);
        next(type === 'none' ? { type, username: 'user' } : { type, username: 'user', password: `${tried.length}` });
      },
    });
    await closed;
    expect(tried.length).toBeGreaterThanOrEqual(3);
    // One signature request is free, and the last answer may arrive during the client's next attempt.
    expect(tried.length).toBeLessThanOrEqual(5);
    expect(logged.join()).not.toContain('entered');
  });

  it('ends if no key is proven in time, even without any message', async () => {
    const { port } = await sshUnderTest(isolation, [registered], { loginGraceMs: 1_000 });
    // A busy machine may need several tries to log in so soon. It is inside before the others begin, so its time ends first.
    let inside: Client | undefined;
    while (inside === undefined) inside = await connect(port, registered).catch(() => undefined);
    const silent = connectSocket(port, '127.0.0.1').resume();
    const silentClosed = new Promise((resolve) => silent.once('close', resolve));
    const waiting = new ssh2.Client();
    waiting.on('error', () => undefined);
    const waitingClosed = closedOf(waiting);
    waiting.connect({ host: '127.0.0.1', port, username: 'user', authHandler: () => undefined });
    await Promise.all([silentClosed, waitingClosed]);
    expect((await run(inside, 'echo in')).stdout).toBe('in\n');
  });

  it('is refused above the limit of connections until one closes', async () => {
    const { port, logged } = await sshUnderTest(isolation, [registered], { maxConnections: 3 });
    const inside: Client[] = [];
    for (let count = 0; count < 3; count += 1) inside.push(await connect(port, registered));
    const more = await Promise.allSettled(Array.from({ length: 10 }, () => connect(port, registered)));
    expect(more.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'));
    expect(logged.join('\n')).toContain('too many');
    inside[0]?.end();
    await expect.poll(() => connect(port, registered).then(() => 'in', String)).toBe('in');
  });

  it('has a limited number of sessions per connection', async () => {
    const { port } = await sshUnderTest(isolation, [registered], { maxSessions: 2 });
    const client = await connect(port, registered);
    const first = await exec(client, 'cat');
    await exec(client, 'cat');
    await expect(exec(client, 'cat')).rejects.toThrow('Channel open failure');
    first.end();
    await expect.poll(() => run(client, 'echo in').then(({ stdout }) => stdout, String)).toBe('in\n');
  });

  it('includes neither port forwarding nor SFTP', async () => {
    const { port } = await sshUnderTest(isolation, [registered]);
    const client = await connect(port, registered);
    const told = (ask: (done: (error: unknown) => void) => void) => new Promise(ask);
    expect(await told((done) => client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, done))).toBeInstanceOf(Error);
    expect(await told((done) => client.forwardIn('127.0.0.1', 0, done))).toBeInstanceOf(Error);
    expect(await told((done) => client.sftp(done))).toBeInstanceOf(Error);
    expect((await run(client, 'echo in')).stdout).toBe('in\n');
  });

  it('keeps its port when it is opened again, and frees it when it is closed', async () => {
    const { port, server } = await sshUnderTest(isolation, [registered]);
    expect(await server.open(ownSandboxId, () => [stranger.publicKey])).toEqual({ host: '127.0.0.1', port });
    await expect(connect(port, registered)).rejects.toThrow(refusedMessage);
    const inside = await connect(port, stranger);
    const closed = closedOf(inside);
    await server.closeAll();
    await closed;
    await expect(connect(port, stranger)).rejects.toThrow('ECONNREFUSED');
    await server.close(ownSandboxId);
    const again = await server.open(ownSandboxId, () => [registered.publicKey]);
    expect((await run(await connect(again.port, registered), 'echo in')).stdout).toBe('in\n');
  });

  it('logs no keys, commands or output', async () => {
    const { port, logged } = await sshUnderTest(isolation, [registered]);
    await run(await connect(port, registered), 'echo hidden-words');
    await connect(port, stranger).catch(() => undefined);
    const text = logged.join('\n');
    expect(text).toContain(registered.publicKey.fingerprint);
    expect(text).not.toContain('hidden-words');
    for (const { text: key } of [registered.publicKey, stranger.publicKey])
      expect(text).not.toContain(key.split(' ')[1]);
  });
});

describe.skipIf(!usableIsolations.includes('bubblewrap'))('in bubblewrap', () => {
  it.each([false, true])('shows nothing of other sandboxes or of the service (terminal: %s)', async (terminal) => {
    const { port, host, directory } = await sshUnderTest('bubblewrap', [registered]);
    await host.createDisk(otherId);
    await host.writeFile(otherId, 'secret', Buffer.from('other'));
    const look = `ls -a /home /home/sandbox / ${directory} ${directory}/disks/${otherId} 2>&1; cat ${directory}/ssh-host-key; pwd`;
    const { stdout } = await outcomeOf(await exec(await connect(port, registered), look, terminal));
    expect(stdout).toContain('/home/sandbox');
    expect(stdout).not.toContain('secret');
    expect(stdout).not.toContain('PRIVATE KEY');
  });
});

function parsed(privateKey: string): ParsedKey {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  return key;
}

function connectWith(port: number, key: ParsedKey): Promise<Client> {
  let tries = 0;
  return connect(port, {
    authHandler: () => {
      tries += 1;
      return tries === 1 && { type: 'publickey', username: 'user', key };
    },
  });
}
