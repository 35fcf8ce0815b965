/** The service, Temporal and notifications through a real proxy. Tier: temporal, about 3 s. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { notifyActivity } from '../../activities/notification/notify.js';
import { createSandboxClient } from '../../src/client/index.js';
import type { Notification } from '../../src/protocol/notification.js';
import { tunnelTo, unifyProxySettings } from '../../src/settings/proxies.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import { connectWorker } from '../../src/temporal/connect-worker.js';

/** What the proxy was asked for; it knows hosts that no name server knows. */
let tunnels: string[] = [];
let proxy: Server;
let receiver: Server;
const received: string[] = [];
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeEach(async () => {
  tunnels = [];
  receiver = createServer((request, response) => {
    received.push(`${request.method} ${request.headers.host}${request.url}`);
    response.end(JSON.stringify({ ok: true }));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  proxy = createServer();
  proxy.on('connect', (request, socket, head) => {
    const login = request.headers['proxy-authorization'];
    tunnels.push(`${request.url}${login === undefined ? '' : ` as ${Buffer.from(login.slice(6), 'base64')}`}`);
    const isTemporal = request.url?.startsWith('temporal.test');
    const port = isTemporal ? Number(inject('temporalAddress').split(':')[1]) : portOf(receiver);
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  share({ HTTPS_PROXY: proxyUrl(), HTTP_PROXY: proxyUrl() });
});
afterEach(() => {
  // The next file of this process creates its clients before its first test.
  vi.unstubAllEnvs();
  for (const server of [proxy, receiver]) {
    server.closeAllConnections();
    server.close();
  }
});

/** Sets these variables alone, and gives all of them one meaning, as a command does at its start. */
function share(set: Record<string, string>): void {
  const env: Record<string, string | undefined> = { ...set };
  unifyProxySettings(env);
  const before = Object.keys(process.env).filter((name) => /_proxy$/i.test(name));
  for (const name of new Set([...before, ...Object.keys(env)])) vi.stubEnv(name, env[name]);
}

const proxyUrl = () => `http://user:word-of-proxy@127.0.0.1:${portOf(proxy)}`;

it('the service is called through the proxy, and loopback is not', async () => {
  const through = createSandboxClient({ baseUrl: 'http://sandbox.test/v1', allowHttp: true, apiKey: 'a-test-key' });
  const direct = createSandboxClient({ baseUrl: `http://127.0.0.1:${portOf(receiver)}/v1`, apiKey: 'a-test-key' });
  // The answer is none of the service, and does not matter.
  await through.getSandbox('bx_2345abcd').catch(() => undefined);
  await direct.getSandbox('bx_2345abcd').catch(() => undefined);
  expect(tunnels).toEqual(['sandbox.test:80 as user:word-of-proxy']);
  await Promise.all([through.close(), direct.close()]);
});

it('a notification is sent through the proxy', async () => {
  const context = { cancellationSignal: new AbortController().signal } as unknown as Context;
  const notify = notifyActivity({});
  const told = { id: 'one', event: 'ended' } as unknown as Notification;
  await asyncLocalStorage.run(context, () => notify({ url: 'http://hooks.test/jobs' }, told));
  expect(received.at(-1)).toBe('POST hooks.test/jobs');
  expect(tunnels).toEqual(['hooks.test:80 as user:word-of-proxy']);
});

it('clients and workers reach Temporal through the proxy', async () => {
  const address = 'temporal.test:7233';
  const client = await connectTemporal({ address });
  await client.connection.close();
  const { connection } = await connectWorker({ address }, { proxy: tunnelTo(address, { https_proxy: proxyUrl() }) });
  await connection.close();
  expect(tunnels).toEqual([`${address} as user:word-of-proxy`, `${address} as user:word-of-proxy`]);
});

it.each(['*', 'temporal.test:7233', '*.test', 'TEMPORAL.test'])(
  'NO_PROXY=%s means the same to a client',
  async (list) => {
    share({ HTTPS_PROXY: proxyUrl(), NO_PROXY: list });
    const asked = connectTemporal({ address: 'temporal.test:7233' }, { timeoutMs: 300 });
    await expect(asked, 'no name server knows it').rejects.toThrow('cannot be reached');
    expect(tunnels).toEqual([]);
  },
);

it('NO_PROXY=* reaches the service without the proxy', async () => {
  share({ HTTP_PROXY: proxyUrl(), NO_PROXY: '*' });
  const direct = createSandboxClient({ baseUrl: 'http://sandbox.test/v1', allowHttp: true, apiKey: 'a-test-key' });
  await expect(direct.getSandbox('bx_2345abcd')).rejects.toThrow();
  expect(tunnels).toEqual([]);
  await direct.close();
});

it('an error about Temporal names the proxy on the way to it, without its login', async () => {
  proxy.removeAllListeners('connect');
  proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
  const address = 'temporal.test:7233';
  const named = `Temporal at ${address}, through the proxy 127.0.0.1:${portOf(proxy)}, cannot be reached.`;
  const tunnel = tunnelTo(address, { https_proxy: proxyUrl() });
  await expect(connectTemporal({ address }, { timeoutMs: 500 })).rejects.toThrow(named);
  await expect(connectWorker({ address }, { timeoutMs: 500, proxy: tunnel })).rejects.toThrow(named);
});

it('GRPC_PROXY is the proxy of a client, but not to this machine', async () => {
  share({ GRPC_PROXY: proxyUrl() });
  for (const address of ['temporal.test:7233', inject('temporalAddress')]) {
    const client = await connectTemporal({ address });
    await client.connection.close();
  }
  expect(tunnels).toEqual(['temporal.test:7233 as user:word-of-proxy']);
});

it('clients reach a Temporal server of this machine without the proxy', async () => {
  const client = await connectTemporal({ address: inject('temporalAddress') });
  await client.connection.close();
  expect(tunnels).toEqual([]);
});
