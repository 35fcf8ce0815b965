/** Wrong certificates, wrong TLS and refusing proxies, with real servers and sockets. Tier: unit, about 2 s; needs openssl. */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { EnvHttpProxyAgent, Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { describeFailure, effectOf, retryOwner } from '../../../activities/retry/classify.js';
import { createAsk } from '../../../src/cli/connect/ask-service.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { connectionProblemOf } from '../../../src/errors/connection-problem.js';
import { requireListener } from '../../../src/temporal/require-listener.js';
import { createPrivateAuthority, missingForAuthority, type PrivateAuthority } from '../../setup/private-ca.js';

const missing = missingForAuthority();
const made: PrivateAuthority[] = [];
const authorities = {} as Record<'good' | 'expired' | 'other', PrivateAuthority>;
beforeAll(() => {
  if (missing) return;
  const make = (...given: Parameters<typeof createPrivateAuthority>) => {
    const one = createPrivateAuthority(...given);
    made.push(one);
    return one;
  };
  authorities.good = make(['localhost']);
  authorities.expired = make(['localhost'], -1);
  authorities.other = make(['one.example', 'two.example']);
});
afterAll(() => {
  for (const one of made) one.close();
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  // What a client that does not trust the certificate leaves behind.
  for (const event of ['tlsClientError', 'error']) server.on(event, () => undefined);
  return (server.address() as AddressInfo).port;
}

type Authority = keyof typeof authorities;
const https = (name: Authority, options: TlsOptions = {}) =>
  createHttpsServer({ ...authorities[name].server, ...options }, (_, response) => response.end('{}'));
const plain = () => createHttpServer((_, response) => response.end('{}'));
const speaksFirst = () => createTcpServer((socket) => void socket.on('error', () => undefined).end('SSH-2.0-x\r\n'));
const old: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' };
const wantsClient: TlsOptions = { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' };

describe.skipIf(missing)('a command tells at once, and a job goes on to try, if the service', () => {
  it.each<[string, () => Server, Authority | undefined, RegExp]>([
    [
      'has a certificate of an unknown authority',
      () => https('good'),
      undefined,
      /not trusted here.*NODE_EXTRA_CA_CERTS/,
    ],
    ['has an expired certificate', () => https('expired'), 'expired', /has expired, or the clock.*ahead/],
    ['has the certificate of another host', () => https('other'), 'other', /it has DNS:one.example, DNS:two.example/],
    ['does not use TLS', plain, undefined, /does not use TLS at this port.*http:\/\//],
    ['does not speak HTTP', speaksFirst, undefined, /does not use TLS at this port/],
    ['knows only old TLS', () => https('good', old), 'good', /do not agree on TLS/],
    ['wants a client certificate', () => https('good', wantsClient), 'good', /refuses this client/],
  ])('%s', async (_, server, trusted, told) => {
    const port = await listening(server());
    const apiUrl = `https://localhost:${port}`;
    const ca = trusted && readFileSync(authorities[trusted].file);
    const dispatcher = new Pool(apiUrl, { connect: { ca } });
    const client = createSandboxClient({ baseUrl: `${apiUrl}/v1`, apiKey: 'k', dispatcher });
    onTestFinished(() => dispatcher.destroy());
    const patience = { patienceMs: 3_600_000, signal: new AbortController().signal, notice: () => undefined };
    const ask = createAsk({ apiUrl, ...patience });
    await expect(ask((call) => client.getMe(call))).rejects.toMatchObject({
      code: 'service_unreachable',
      message: expect.stringMatching(told),
    });
    const error = await client.getMe().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'connection_failed', requestSent: false });
    const { meaning } = describeFailure(error) ?? { meaning: 'permanent' as const };
    expect(retryOwner(meaning, effectOf(error))).toBe('temporal');
  });
});

describe.skipIf(missing)('through a proxy, it is told that', () => {
  it.each<[string, () => Server, string, RegExp]>([
    ['the proxy wants another login', () => refusing(407), 'http', /the proxy refuses.*\(407\).*HTTPS_PROXY/],
    ['the proxy forbids the host', () => refusing(403), 'http', /the proxy refuses.*\(403\).*NO_PROXY/],
    ['the certificate is that of an unknown authority', () => https('good'), 'https', /or that of a proxy on the way/],
    ['the proxy does not use TLS', plain, 'https', /does not use TLS/],
  ])('%s', async (_, server, scheme, told) => {
    const httpsProxy = `${scheme}://localhost:${await listening(server())}`;
    const factory = (to: URL | string, of: object) => new Pool(to, of);
    const dispatcher = new EnvHttpProxyAgent({ httpsProxy, noProxy: '', factory });
    onTestFinished(() => dispatcher.destroy());
    const client = createSandboxClient({ baseUrl: 'https://api.example.com/v1', apiKey: 'k', dispatcher });
    await expect(client.getMe()).rejects.toMatchObject({ problem: {}, message: expect.stringMatching(told) });
  });

  it('nothing, if the proxy itself has a problem that may pass', () => {
    expect(connectionProblemOf(new Error('Proxy response (503) !== 200 when HTTP Tunneling'))).toBeUndefined();
  });
});

function refusing(status: number): Server {
  return createHttpServer().on('connect', (_, socket) =>
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`),
  );
}

describe('the code', () => {
  it.each([
    ['CERT_NOT_YET_VALID', /clock of this machine is probably behind/],
    ['CERT_REVOKED', /not trusted/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /not trusted/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /not trusted/],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /not trusted/],
    ['CERT_SIGNATURE_FAILURE', /not trusted/],
    ['INVALID_CA', /not trusted/],
    ['CERT_CHAIN_TOO_LONG', /not trusted/],
    ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', /do not agree on TLS/],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', /do not agree on TLS/],
    ['ERR_SSL_DH_KEY_TOO_SMALL', /do not agree on TLS/],
  ])('%s is told in words', (code, told) => {
    expect(connectionProblemOf(Object.assign(new Error('x'), { code }))?.text).toMatch(told);
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'EPIPE'])(
    '%s is left to patience',
    (code) => expect(connectionProblemOf(Object.assign(new Error('x'), { code }))).toBeUndefined(),
  );

  it('quotes a bounded line of the names that a server chose', () => {
    const cert = { subjectaltname: `DNS:a\u001b[2J\n${'x'.repeat(9_000)}` };
    const error = Object.assign(new Error('x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID', cert });
    const { text } = connectionProblemOf(error) ?? { text: '' };
    expect(text).toMatch(/^.{100,320}$/);
    expect(text).not.toContain('\u001b');
  });
});

describe.skipIf(missing)('Temporal', () => {
  const h2 = (name: Authority, options: TlsOptions = {}) =>
    createSecureServer({ ...authorities[name].server, ...options }) as unknown as Server;

  it.each<[string, () => Server, Authority | undefined, RegExp]>([
    [
      'of an unknown authority',
      () => h2('good'),
      undefined,
      /not trusted here.*NODE_EXTRA_CA_CERTS or in TEMPORAL_TLS_SERVER/,
    ],
    ['with an expired certificate', () => h2('expired'), 'expired', /has expired/],
    ['with the certificate of another host', () => h2('other'), 'other', /DNS:one.example.*TEMPORAL_TLS_SERVER_NAME/],
    ['without TLS', plain, undefined, /does not use TLS.*Unset TEMPORAL_TLS/],
    ['that is a web server', () => https('good'), 'good', /do not agree on TLS.*Check the port/],
    ['that wants a client certificate', () => h2('good', wantsClient), 'good', /TEMPORAL_TLS_CLIENT_CERT_PATH/],
  ])('%s is refused at once, in words', async (_, server, trusted, told) => {
    const address = `localhost:${await listening(server())}`;
    const ca = trusted && readFileSync(authorities[trusted].file);
    const target = { connectionOptions: { address, tls: ca ? { serverRootCACertificate: ca } : true } };
    await expect(requireListener(target, { withinMs: 3_600_000 })).rejects.toMatchObject({
      code: 'temporal_unreachable',
      message: expect.stringMatching(told),
    });
  });

  it('passes if all is right, also by another name of the server', async () => {
    const authority = authorities.other;
    const address = `127.0.0.1:${await listening(h2('other'))}`;
    const serverRootCACertificate = readFileSync(authority.file);
    const tls = { serverRootCACertificate, serverNameOverride: 'two.example' };
    await requireListener({ connectionOptions: { address, tls } }, { withinMs: 3_600_000 });
  });
});
