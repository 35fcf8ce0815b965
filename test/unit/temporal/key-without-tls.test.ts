import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { connectTemporal } from '../../../src/temporal/connect.js';

const key = 'canary-key';

/** A server without TLS: what it reads of a key, anybody on the way can read. */
async function keyReadWith(tls: string | undefined): Promise<unknown> {
  const server = createServer();
  onTestFinished(() => void server.close());
  let read: unknown;
  server.on('stream', (stream, headers) => {
    read = headers.authorization;
    stream.respond({ ':status': 200, 'grpc-status': '7', 'content-type': 'application/grpc' }, { endStream: true });
  });
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  const { connect } = readConfig({
    TEMPORAL_ADDRESS: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    TEMPORAL_API_KEY: key,
    TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml',
    TEMPORAL_TLS: tls,
  }).temporal;
  await expect(connectTemporal(connect, { timeoutMs: 1_000 })).rejects.toThrow();
  return read;
}

it('an API key of Temporal is sent without TLS only if TEMPORAL_TLS says no', async () => {
  const yes = ['true', 'True', 'TRUE', '1', 'yes', 'on', '', undefined];
  const no = ['false', 'False', '0', 'no', 'off'];
  const seen = await Promise.all([...yes, ...no].map(async (word) => [word, await keyReadWith(word)]));
  expect(seen).toEqual([...yes.map((word) => [word, undefined]), ...no.map((word) => [word, `Bearer ${key}`])]);
});
