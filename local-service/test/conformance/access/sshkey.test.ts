import { expect } from 'vitest';
import { closedOf, connect, keyPair, run } from '../../service/ssh/ssh-fixture.js';
import { rule } from '../rule.js';
import { startLocalTarget, startPeople, type Target } from '../target/index.js';

const [mine, other] = [keyPair(), keyPair()];

const setKey = (on: Target, id: string, publicKey: string, key?: string) =>
  on.call('POST', `/sandboxes/${id}/sshkey`, { body: { publicKey }, key });
const endpointOf = async (on: Target, id: string) =>
  (await on.call('GET', `/sandboxes/${id}`)).body.sandbox.sshEndpoint;
const portIn = (endpoint: string | null | undefined) => Number(/^127\.0\.0\.1:(\d+)$/.exec(endpoint ?? '')?.[1]);

rule(
  ['ssh.key', 'ssh.no-other-key', 'sandbox.ssh-endpoint', 'sandbox.ssh-endpoint-connect'],
  'the configured key opens a shell in the sandbox, and no other key does',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    const { status, body } = await setKey(local, id, `${mine.publicKey.text} me@home`);
    expect({ status, type: body.type }).toEqual({ status: 200, type: 'sshkey.configured' });
    expect(await endpointOf(local, id)).toBe(body.sshEndpoint);
    const port = portIn(body.sshEndpoint);
    const client = await connect(port, { privateKey: mine.privateKey });
    expect((await run(client, 'echo by ssh > file.txt; echo done')).stdout).toBe('done\n');
    expect((await local.call('GET', `/sandboxes/${id}/files?path=file.txt`)).body.content).toBe('by ssh\n');
    await expect(connect(port, { privateKey: other.privateKey })).rejects.toThrow('authentication');
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('ready');
  },
  { needs: ['local'] },
);

rule(
  ['sandbox.ssh-endpoint', 'ssh.no-other-key'],
  'the SSH endpoint is there from the start of the machine; without a key nobody gets in, and a later key does',
  async () => {
    const local = await startLocalTarget({ timings: { bootMs: 600_000 } });
    const { clock } = local.service;
    clock.hold();
    const id = await local.create();
    expect(await endpointOf(local, id)).toBeNull();
    await clock.advance(300_000);
    const starting = (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(starting).toMatchObject({ state: 'provisioned', ip: '127.0.0.1' });
    const port = portIn(starting.sshEndpoint);
    await expect(connect(port, { privateKey: mine.privateKey })).rejects.toThrow('authentication');
    await clock.advance(300_000);
    const ready = (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(ready).toMatchObject({ state: 'ready', sshEndpoint: starting.sshEndpoint });
    await expect(connect(port, { privateKey: mine.privateKey })).rejects.toThrow('authentication');
    expect((await setKey(local, id, mine.publicKey.text)).body.sshEndpoint).toBe(starting.sshEndpoint);
    expect((await run(await connect(port, { privateKey: mine.privateKey }), 'echo in')).stdout).toBe('in\n');
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['ssh.key', 'ssh.no-other-key'],
  'a new key replaces the previous one of the same API key, and disconnects its sessions',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    const port = portIn((await setKey(local, id, mine.publicKey.text)).body.sshEndpoint);
    const closed = closedOf(await connect(port, { privateKey: mine.privateKey }));
    expect(portIn((await setKey(local, id, other.publicKey.text)).body.sshEndpoint)).toBe(port);
    await closed;
    await expect(connect(port, { privateKey: mine.privateKey })).rejects.toThrow('authentication');
    await connect(port, { privateKey: other.privateKey });
  },
  { needs: ['local'] },
);

rule(
  ['ssh.key', 'sandbox.ssh-endpoint'],
  'the SSH server of a sandbox closes with a stop, opens with a resume, and closes for good with a deletion',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    const port = portIn((await setKey(local, id, mine.publicKey.text)).body.sshEndpoint);
    const closed = closedOf(await connect(port, { privateKey: mine.privateKey }));
    expect((await local.archive(id)).sshEndpoint).toBeNull();
    await closed;
    await expect(connect(port, { privateKey: mine.privateKey })).rejects.toThrow('ECONNREFUSED');
    await local.call('POST', `/sandboxes/${id}/resume`);
    const again = portIn((await local.reach(id, 'ready')).sshEndpoint);
    expect((await run(await connect(again, { privateKey: mine.privateKey }), 'pwd')).code).toBe(0);
    await local.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } });
    await expect
      .poll(() => connect(again, { privateKey: mine.privateKey }).catch((error) => String(error)))
      .toContain('ECONNREFUSED');
  },
  { needs: ['local'] },
);

rule(
  ['ssh.key', 'sandbox.ssh-endpoint'],
  'the key survives a restart of the service, and the server opens again',
  async () => {
    const first = await startLocalTarget();
    const id = await first.ready();
    await setKey(first, id, mine.publicKey.text);
    await first.service.close();
    const second = await startLocalTarget({ directory: first.directory });
    const port = portIn(await endpointOf(second, id));
    expect((await run(await connect(port, { privateKey: mine.privateKey }), 'echo in')).stdout).toBe('in\n');
    const fork = (await second.call('POST', `/sandboxes/${id}/fork`)).body.sandbox.id;
    const portOfFork = portIn((await second.reach(fork, 'ready')).sshEndpoint);
    expect(portOfFork).not.toBe(port);
    await expect(connect(portOfFork, { privateKey: mine.privateKey })).rejects.toThrow('authentication');
  },
  { needs: ['local'] },
);

rule(
  ['ssh.key', 'errors.machine-not-running'],
  'an invalid public key is refused without being repeated, and so is any key without a running machine',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    for (const wrong of ['', 'ssh-ed25519 AAAA', 'no key at all', mine.privateKey]) {
      const { status, body, text } = await setKey(local, id, wrong);
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect(text).not.toContain('BEGIN');
    }
    const port = portIn(await endpointOf(local, id));
    await expect(connect(port, { privateKey: mine.privateKey })).rejects.toThrow('authentication');
    await local.archive(id);
    expect(await setKey(local, id, mine.publicKey.text)).toMatchObject({
      status: 400,
      body: { code: 'machine_not_running' },
    });
  },
  { needs: ['local'] },
);

rule(
  ['unshare.ssh-keys-removed', 'ssh.no-other-key'],
  'unshare removes the keys of teammates from the running machine, and a later share does not restore them',
  async () => {
    const { ann, ben, eve } = await startPeople();
    const id = await ann.ready({ noEnv: true });
    await setKey(ann, id, mine.publicKey.text);
    const port = portIn((await setKey(ben, id, other.publicKey.text)).body.sshEndpoint);
    expect(await setKey(eve, id, other.publicKey.text)).toMatchObject({ status: 404 });
    const owner = await connect(port, { privateKey: mine.privateKey });
    const closed = closedOf(await connect(port, { privateKey: other.privateKey }));
    await ann.call('POST', `/sandboxes/${id}/unshare`);
    await closed;
    await expect(connect(port, { privateKey: other.privateKey })).rejects.toThrow('authentication');
    expect((await run(owner, 'echo still in')).stdout).toBe('still in\n');
    expect(await setKey(ben, id, other.publicKey.text)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    await ann.call('POST', `/sandboxes/${id}/share`);
    await expect(connect(port, { privateKey: other.privateKey })).rejects.toThrow('authentication');
  },
  { needs: ['local'] },
);
