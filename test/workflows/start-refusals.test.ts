/** What Temporal refuses at the start of a worker or a bridge. Tier: temporal, about 1 s. */
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, inject, it, onTestFinished } from 'vitest';
import { connectTemporal } from '../../src/temporal/connect.js';
import { clientOfWorker, connectWorker } from '../../src/temporal/connect-worker.js';
import { requireNamespace } from '../../src/temporal/require-namespace.js';
import { cli } from '../unit/cli/in-process.js';

it('a namespace that does not exist is named, with the command that creates it', async () => {
  const address = inject('temporalAddress');
  const connected = await connectWorker({ address, namespace: 'nowhere' });
  onTestFinished(() => connected.connection.close());
  await expect(requireNamespace(clientOfWorker(connected), address)).rejects.toMatchObject({
    code: 'bad_configuration',
    message: expect.stringMatching(
      /has no namespace "nowhere".*TEMPORAL_NAMESPACE.*namespace create --namespace nowhere/,
    ),
  });
  const { connection } = connected;
  await requireNamespace(clientOfWorker({ connection, namespace: 'default' }), address);
});

it.each([['worker'], ['bridge', '--port', '0']])('a %s without its namespace ends and says so', async (...command) => {
  const env = {
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    TEMPORAL_NAMESPACE: 'nowhere',
    SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
    SANDBOX_API_KEY: 'key',
    SANDBOX_WEBHOOK_SECRET: 'whsec_of-a-test',
  };
  const ended = await cli(command, { env });
  expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has no namespace "nowhere"') });
});

it.each([
  ['16', 'an API key that is not valid'],
  ['7', 'an API key without permission'],
])('gRPC status %s, %s, is told as such to clients and workers', async (status) => {
  const server = createServer();
  server.on('stream', (stream) => {
    const answer = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status };
    stream.respond({ ...answer, 'grpc-message': 'Request unauthorized.' }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const connect of [connectTemporal, connectWorker]) {
    await expect(connect({ address })).rejects.toMatchObject({
      code: 'temporal_unreachable',
      message: expect.stringContaining('It refuses the credentials: check TEMPORAL_API_KEY'),
    });
  }
});
