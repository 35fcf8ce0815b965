/** A service that redirects every request, or never ends its answer. */
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, createClosing, sendJson, startStand } from '../../../client/http-harness.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const closing = createClosing();
afterEach(closing.closeAll);

const mib = 1024 ** 2;
const serving = async (answer: Answer) => {
  const stand = closing.keep(await startStand(answer));
  return { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key_secret' };
};

/** Until nobody reads any longer. */
function sendWithoutEnd(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  const piece = Buffer.alloc(mib, ' ');
  const send = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', send);
  send();
}

/** One GiB, compressed to a few KiB. */
const bomb = gzipSync(Buffer.alloc(64 * mib, ' '));
const sendBomb: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  for (let times = 0; times < 16; times += 1) response.write(bomb);
  response.end();
};

describe('a hostile service', () => {
  it.each([200, 500])('cannot make `api` read an endless answer of %i', async (status) => {
    const env = await serving((_, response) => sendWithoutEnd(response, status));
    const { exitCode, stderr } = await cli(['api', 'GET', '/sandboxes'], { env });
    expect(stderr).toContain('is larger than');
    expect(exitCode).toBe(3);
  });

  it('can have deep nesting printed unchanged', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const env = await serving((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(deep),
    );
    expect(await cli(['api', 'GET', '/sandboxes'], { env })).toMatchObject({ exitCode: 0, stdout: `${deep}\n` });
  });

  it('gets neither the key nor an archive of `local` at another address', async () => {
    const thief = closing.keep(await startStand((_, response) => sendJson(response, 200, { ok: true })));
    const env = await serving((_, response) => response.writeHead(307, { location: thief.url }).end());
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'state.tar.gz'), 'archive');
    for (const args of [
      ['local', 'log'],
      ['local', 'import', 'state.tar.gz'],
      ['local', 'export', 'out.tar.gz'],
    ]) {
      expect((await cli(args, { env, cwd })).exitCode).not.toBe(0);
    }
    expect(thief.seen).toEqual([]);
  });

  it('cannot make `local` read gigabytes of compressed data', async () => {
    const { stderr } = await cli(['local', 'clock'], { env: await serving(sendBomb) });
    expect(stderr).toContain('is larger than');
  });
});
