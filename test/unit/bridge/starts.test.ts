import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { createBridge } from '../../../src/bridge/index.js';
import { createCodecServer, createPayloadCodec, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';

const options = { temporalClient: {} as Client, secrets: () => ['a-secret-of-the-test'] };

it('a bridge that could not serve its metrics says why, has ended, and can try again', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const bridge = createBridge(options);
  for (const _ of ['first', 'second']) {
    await expect(bridge.listen({ port: 0, metrics: { port } })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  }
  const { url } = await bridge.listen({ port: 0 });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await bridge.close();
  await new Promise((resolve) => taken.close(resolve));
});

it('servers refuse a number out of range by its name, before they start', () => {
  for (const name of ['signalTimeoutMs', 'maxBodyBytes', 'closeGraceMs']) {
    for (const value of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY]) {
      const create = () => createBridge({ ...options, [name]: value });
      expect(create).toThrow(expect.objectContaining({ code: 'bad_argument', message: expect.stringContaining(name) }));
    }
  }
  const codec = createPayloadCodec(parseKeyRing(newKeyLine('k')));
  const token = 'a-token-of-the-test-0123456789';
  const create = () => createCodecServer({ codec, token, origins: [], maxBodyBytes: Number.NaN });
  expect(create).toThrow(expect.objectContaining({ code: 'bad_argument' }));
});
