import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { requireAgreement } from '../../../src/cli/connect/key-agreement.js';
import { checkEncryption } from '../../../src/cli/doctor/check-encryption.js';
import { newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import {
  type Agreement,
  type AgreeOptions,
  agreeOnKeys,
  deploymentKeys,
  forgetDeploymentKeys,
} from '../../../src/temporal/deployment-keys.js';

let client: Client;
beforeAll(async () => {
  client = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
});
afterAll(() => client.connection.close());

const a = newKeyLine('a');
const b = newKeyLine('b');
const ring = (...lines: string[]) => parseKeyRing(lines.join('\n'));
const agreed = { kind: 'agreed' };
const refused = { code: 'bad_configuration' };

/** Asks until Temporal answers: a busy one does not within the five seconds that a process waits for it. */
async function agree(options: AgreeOptions): Promise<Agreement> {
  for (;;) {
    const agreement = await agreeOnKeys(client, options);
    if (agreement.kind !== 'unasked') return agreement;
  }
}

/** A separate deployment, with processes that start in it. */
function newDeployment() {
  const deployment = `k${randomBytes(5).toString('hex')}`;
  const ringOf = (lines: readonly string[]) => (lines.length ? ring(...lines) : undefined);
  return {
    deployment,
    worker: (...lines: string[]) => agree({ deployment, announce: true, ring: ringOf(lines) }),
    client: (...lines: string[]) => agree({ deployment, ring: ringOf(lines) }),
  };
}

describe('the comparison of keys at the start', () => {
  it('refuses nobody and writes nothing if there are no keys', async () => {
    const { worker, client: command, deployment } = newDeployment();
    expect(await worker()).toEqual(agreed);
    expect(await command()).toEqual(agreed);
    expect(await deploymentKeys(client, deployment)).toBeUndefined();
  });

  it('makes a client with keys wait for a worker that has them', async () => {
    const { worker, client: command } = newDeployment();
    await expect(command(a)).rejects.toMatchObject({ code: 'keys_not_announced' });
    expect(await worker(a)).toEqual(agreed);
    expect(await command(a)).toEqual(agreed);
  });

  it('refuses a process without keys, with a key outside the ring, or with another key of its id', async () => {
    const { worker, client: command } = newDeployment();
    await worker(a);
    for (const start of [worker, command]) {
      await expect(start()).rejects.toMatchObject(refused);
      await expect(start(b)).rejects.toMatchObject(refused);
      await expect(start(b, a)).rejects.toMatchObject(refused);
      await expect(start(newKeyLine('a'))).rejects.toMatchObject(refused);
    }
    // A refused process has changed nothing.
    expect(await command(a)).toEqual(agreed);
  });

  it('allows a rotation: a key is second, then first, then the only one', async () => {
    const { worker, client: command, deployment } = newDeployment();
    await worker(a);
    await worker(a, b);
    expect(await command(a)).toEqual(agreed);
    expect(await command(b, a)).toEqual(agreed);
    await expect(command(newKeyLine('b'), a), 'another key of the id').rejects.toMatchObject(refused);
    await worker(b, a);
    expect(await command(a, b)).toEqual(agreed);
    await expect(command(a), 'it could not read what the worker writes').rejects.toMatchObject(refused);
    await worker(b);
    expect(await command(b)).toEqual(agreed);
    await expect(command(a, b), 'no worker reads what it writes').rejects.toMatchObject(refused);
    await expect(worker(a, b)).rejects.toMatchObject(refused);
    expect(await deploymentKeys(client, deployment)).toEqual({ current: 'b', checks: { b: ring(b).first.check } });
  });

  it('writes no key, and its record is deleted on request', async () => {
    const { worker, client: command, deployment } = newDeployment();
    await worker(a);
    const described = JSON.stringify(await client.schedule.getHandle(`encryption/${deployment}`).describe());
    expect(described).not.toContain(a.slice(2, 20));
    await forgetDeploymentKeys(client, deployment);
    await forgetDeploymentKeys(client, deployment);
    expect(await command()).toEqual(agreed);
  });

  it('works for workers that announce at once', async () => {
    const { worker } = newDeployment();
    expect(await Promise.all([worker(a, b), worker(a, b), worker(a, b)])).toEqual([agreed, agreed, agreed]);
  });
});

describe('doctor reports about keys', () => {
  it('which one encrypts, which can be read here, and whether the workers have the same', async () => {
    const { worker, deployment } = newDeployment();
    const look = async (...lines: string[]) => {
      for (;;) {
        const check = await checkEncryption(client, { deployment }, lines.length ? ring(...lines) : undefined);
        if (!check.message.includes('cannot be read from Temporal')) return check;
      }
    };
    expect(await look()).toMatchObject({ status: 'skipped', message: expect.stringContaining('not encrypted') });
    expect(await look(a)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('This machine encrypts with "a"'),
    });
    await worker(a, b);
    expect(await look()).toMatchObject({ status: 'failed', message: expect.stringContaining('has no keys') });
    expect(await look(a, b)).toMatchObject({ status: 'ok', message: expect.stringContaining('reads "a", "b"') });
    expect(await look(a)).toMatchObject({ status: 'warning', message: expect.stringContaining('also read "b"') });
    const other = await look(newKeyLine('c'));
    expect(other).toMatchObject({ status: 'failed', message: expect.stringContaining('"c", is not in the key ring') });
    const lacking = await look(b);
    expect(lacking).toMatchObject({ status: 'failed', message: expect.stringContaining('"a", which is not in the') });
    for (const { message } of [other, lacking]) expect(message).not.toContain(a.slice(2, 20));
  });
});

it('an incomplete announcement lets no process with keys start', async () => {
  const { client: command, deployment } = newDeployment();
  const args = [{ current: 'x', checks: { a: ring(a).first.check } }];
  const action = { type: 'startWorkflow', workflowType: 'none', workflowId: 'x', taskQueue: 'none', args } as const;
  await client.schedule.create({ scheduleId: `encryption/${deployment}`, spec: {}, action, state: { paused: true } });
  await expect(command(a)).rejects.toMatchObject(refused);
});

it('a Temporal that does not answer refuses no server, and lets no command go on', async () => {
  const address = '127.0.0.1:1';
  const connection = Connection.lazy({ address });
  try {
    const away = new Client({ connection });
    const asked = await agreeOnKeys(away, { deployment: 'away', ring: ring(a), announce: true });
    expect(asked).toMatchObject({ kind: 'unasked' });
    const { signal } = new AbortController();
    const command = requireAgreement(away, { deployment: 'away', ring: ring(a), address, signal });
    await expect(command).rejects.toMatchObject({ code: 'temporal_unreachable' });
  } finally {
    await connection.close();
  }
});

it('a Temporal that refuses the credentials is told by the setting to check', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  server.on('stream', (stream) => {
    const denied = { 'grpc-status': '7', 'grpc-message': 'Request unauthorized.' };
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...denied }, { endStream: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = Connection.lazy({ address });
  try {
    const { signal } = new AbortController();
    const options = { deployment: 'refused', ring: undefined, address, signal };
    const command = requireAgreement(new Client({ connection }), options);
    const message = expect.stringContaining('check TEMPORAL_API_KEY');
    await expect(command).rejects.toMatchObject({ code: 'temporal_unreachable', message });
  } finally {
    await connection.close();
  }
});
