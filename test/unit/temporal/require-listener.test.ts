import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../../src/os/free-port.js';
import { unreachable } from '../../../src/temporal/errors.js';
import { requireListener } from '../../../src/temporal/require-listener.js';
import { cli } from '../cli/in-process.js';
import { listensOn, unlessTaken } from '../os/free-ports.js';

/** Nothing listens on this port. */
const dead = '127.0.0.1:1';
/** Words of Rust and of its libraries. */
const native = /tonic|transport|os error|hyper/i;

/** No name server is asked for it: a part of a name has at most 63 letters. */
const noHost = `no-such-host${'-'.repeat(60)}x.invalid:7233`;

describe('a dead TEMPORAL_ADDRESS', () => {
  const configured = { SANDBOX_API_URL: 'http://127.0.0.1:9/v1', SANDBOX_API_KEY: 'key' };

  it.each([
    [dead, 'nothing listens at this address'],
    [noHost, 'the name of the host is unknown'],
  ])('%s is refused in plain words', async (address, why) => {
    const startMs = Date.now();
    vi.setSystemTime(startMs);
    onTestFinished(() => void vi.useRealTimers());
    const asking = requireListener({ address }, { withinMs: 60_000 });
    // The time is over when the first answer comes.
    vi.setSystemTime(startMs + 60_000);
    await expect(asking).rejects.toMatchObject({
      code: 'temporal_unreachable',
      message: expect.stringMatching(`Temporal at ${address} cannot be reached.*${why}`),
    });
  });

  it.each([['up --foreground'], ['jobs list']])('ends %s before anything is started', async (command) => {
    // Whatever waits for the server, as the SDK does, waits longer than the test may take.
    const env = { ...configured, TEMPORAL_ADDRESS: dead, SANDFLOW_PATIENCE_SECONDS: '3600' };
    const { exitCode, stderr } = await cli(command.split(' '), { env });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('nothing listens at this address');
    expect(stderr).not.toMatch(/starting the|waiting for up to/);
    expect(stderr).not.toMatch(native);
  });

  it('is waited for while it starts, and a silent server is left to the patience of the command', async () => {
    await unlessTaken(async () => {
      const port = await freePort();
      const waiting = requireListener({ address: `127.0.0.1:${port}` }, { withinMs: 300_000 });
      const server = createServer();
      onTestFinished(() => void server.close());
      const isOurs = await listensOn(server, port);
      await waiting;
      return isOurs;
    });
  });

  it('is not checked behind a proxy', async () => {
    const env = {
      ...configured,
      TEMPORAL_ADDRESS: 'temporal.invalid:1',
      https_proxy: 'http://127.0.0.1:1',
      SANDFLOW_PATIENCE_SECONDS: '0.2',
    };
    expect((await cli(['jobs', 'list'], { env })).stderr).not.toContain('nothing listens');
  });

  it.each([
    [
      'tonic::transport::Error(Transport, ConnectError("tcp connect error", Os { code: 111, kind: ConnectionRefused }))',
      'nothing listens',
    ],
    ['transport error: dns error: failed to lookup address information', 'the host is unknown'],
    ['tonic transport error: invalid peer certificate', 'TLS settings do not fit'],
    ['tonic ConnectError(Custom { error: InvalidCertificate(UnknownIssuer) })', 'NODE_EXTRA_CA_CERTS'],
    ['tonic ConnectError(Custom { error: InvalidCertificate(NotValidForName) })', 'TEMPORAL_TLS_SERVER_NAME'],
    ['tonic ConnectError(Custom { error: InvalidMessage(InvalidContentType) })', 'Unset TEMPORAL_TLS'],
    ['tonic hyper::Error(Io, Custom { kind: BrokenPipe, error: "because of a broken pipe" })', 'set TEMPORAL_TLS=true'],
    ['tonic::Status { code: Unknown, message: "transport error" }', 'no Temporal server answers'],
  ])('is reported without %s', (said, why) => {
    const { message } = unreachable('a:7233', new Error(said));
    expect(message).toContain(why);
    expect(message).not.toMatch(native);
  });

  it('is not blamed on TEMPORAL_ADDRESS alone: the embedded server, which does not use it, is restarted', () => {
    const { message } = unreachable('127.0.0.1:45689', new Error('context deadline exceeded'));
    expect(message).toContain('If TEMPORAL_ADDRESS (host:port) names your own server, check');
    expect(message).toContain('restart it: `sandflow down --force`, then `sandflow up`');
  });
});
