import { createHash } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { downloadTemporalCli } from '../../../src/temporal-server/download.js';
import { createPrivateAuthority, missingForAuthority } from '../../setup/private-ca.js';
import { createWorkshop } from './fixture.js';

describe('the download of an archive says in one line why it failed', () => {
  let workshop: ReturnType<typeof createWorkshop>;
  const servers: Server[] = [];
  beforeEach(() => {
    workshop = createWorkshop();
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'])
      vi.stubEnv(name, undefined);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    workshop.remove();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const listen = async (server: Server): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  const freePort = async () => {
    const port = await listen(createHttpServer());
    await new Promise((resolve) => servers.pop()?.close(resolve));
    return port;
  };
  const failure = (url: string, options: { sha256?: string; tar?: string; giveUpAfterMs?: number } = {}) => {
    const { sha256 = '0', giveUpAfterMs = 600_000, ...rest } = options;
    const { directory } = workshop;
    const making = { directory, onProgress: () => undefined, giveUpAfterMs, archive: { url, sha256 }, ...rest };
    return downloadTemporalCli(making).then(
      () => 'nothing failed',
      (error: Error) => error.message,
    );
  };

  it('an unknown address', async () => {
    expect(await failure('https://archives.invalid/x')).toMatch(
      /^the address archives\.invalid .*; behind a proxy, set HTTPS_PROXY$/,
    );
  });

  it('a closed port', async () => {
    const port = await freePort();
    expect(await failure(`http://127.0.0.1:${port}/x`)).toBe(`127.0.0.1:${port} refuses connections`);
  });

  it('a refusal', async () => {
    const port = await listen(createHttpServer((_request, response) => response.writeHead(403).end()));
    expect(await failure(`http://127.0.0.1:${port}/x`)).toBe(`127.0.0.1:${port} answers 403`);
  });

  it('silence', async () => {
    const port = await listen(createHttpServer(() => undefined));
    const url = `http://127.0.0.1:${port}/x`;
    expect(await failure(url, { giveUpAfterMs: 300 })).toBe(
      `no data came from 127.0.0.1:${port} for 0.3 s; behind a proxy, set HTTPS_PROXY`,
    );
  });

  it('a proxy that is not there, without its password', async () => {
    const port = await freePort();
    vi.stubEnv('HTTPS_PROXY', `http://user:password@127.0.0.1:${port}`);
    expect(await failure('https://archives.invalid/x')).toBe(`the proxy 127.0.0.1:${port} refuses connections`);
  });

  it.each([
    [407, 'the proxy asks for another user and password than those in HTTPS_PROXY (407)'],
    [403, 'the proxy refuses to connect to archives.invalid (403)'],
  ])('a proxy that answers %i', async (status, expected) => {
    const proxy = createHttpServer();
    proxy.on('connect', (_request, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    vi.stubEnv('HTTPS_PROXY', `http://user:password@127.0.0.1:${await listen(proxy)}`);
    expect(await failure('https://archives.invalid/x')).toBe(expected);
  });

  it('a proxy that is no URL', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://user:pass word');
    expect(await failure('https://archives.invalid/x')).toBe(
      'HTTPS_PROXY is not a URL such as http://proxy.example.com:3128',
    );
  });

  it.skipIf(missingForAuthority())('a certificate that is not trusted', async () => {
    const authority = createPrivateAuthority();
    try {
      const port = await listen(createHttpsServer(authority.server));
      expect(await failure(`https://localhost:${port}/x`)).toBe(
        `the certificate of localhost:${port} is signed by an authority that is not trusted here (NODE_EXTRA_CA_CERTS)`,
      );
    } finally {
      authority.close();
    }
  });

  it('another checksum than that of its publisher', async () => {
    const port = await listen(createHttpServer((_request, response) => response.end('planted')));
    expect(await failure(`http://127.0.0.1:${port}/x`)).toMatch(
      /^REFUSED: .* does not match the checksum of its publisher/,
    );
  });

  it.each([
    ['a tar that fails', 'echo "tar: not an archive" >&2; exit 2', 'tar could not unpack it: tar: not an archive'],
    ['no tar', undefined, 'the program tar, which unpacks it, is missing'],
  ])('%s', async (_cause, script, expected) => {
    const port = await listen(createHttpServer((_request, response) => response.end('bytes')));
    const sha256 = createHash('sha256').update('bytes').digest('hex');
    const tar = script === undefined ? workshop.missing : workshop.program('tar', script);
    expect(await failure(`http://127.0.0.1:${port}/x`, { sha256, tar })).toBe(expected);
  });
});
