/** A service that redirects every request, or never ends its answer. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { checkBridge, checkWebhook } from '../../../../src/cli/doctor/check-webhook.js';
import { formatTable } from '../../../../src/cli/output/table.js';
import { type Answer, createClosing, errorBody, sendJson, startStand } from '../../client/http-harness.js';
import { cli } from '../in-process.js';

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

  it('gets no key of `local` at another address', async () => {
    const thief = closing.keep(await startStand((_, response) => sendJson(response, 200, { ok: true })));
    const env = await serving((_, response) => response.writeHead(307, { location: thief.url }).end());
    expect((await cli(['local', 'clock'], { env })).exitCode).not.toBe(0);
    expect(thief.seen).toEqual([]);
  });

  it('cannot make `local` read gigabytes of compressed data', async () => {
    const { stderr } = await cli(['local', 'clock'], { env: await serving(sendBomb) });
    expect(stderr).toContain('is larger than');
  });
});

describe('what a hostile service says', () => {
  const forged = '\nerror: all is well';
  const linesOf = (text: string) => text.split('\n').filter((line) => line.startsWith('error: all is well'));

  it('forges no line while a command waits for it', async () => {
    const env = await serving((_, response) =>
      setTimeout(() => sendJson(response, 503, errorBody(503, 'http_500', `busy${forged}`)), 700),
    );
    const { stderr } = await cli(['sandboxes'], { env: { ...env, SANDFLOW_PATIENCE_SECONDS: '4' } });
    expect(stderr).toContain('does not answer');
    expect(linesOf(stderr)).toEqual([]);
  });

  it('fills no memory by one wide cell, and no stack by many rows', () => {
    const rows = Array.from({ length: 200_000 }, (_, at) => [at === 0 ? 'x'.repeat(100_000) : 'a', 'b']);
    const table = formatTable(['ONE', 'TWO'], rows);
    expect(table.length).toBeLessThan(30 * mib);
    expect(table.split('\n')[2]).toBe(`a${' '.repeat(101)}b`);
  });

  it.each([['null'], ['[]'], ['{"clock":5}'], ['not JSON']])(
    'is no defect of the commands of `local` (%#)',
    async (body) => {
      const env = await serving((_, response) => response.writeHead(200).end(body));
      const { exitCode, stderr } = await cli(['local', 'clock'], { env });
      const why = /does not (?:match this version of sandflow|come from a local service)/;
      expect([exitCode, stderr]).toEqual([3, expect.stringMatching(why)]);
    },
  );
});

describe('`doctor` with a hostile service', () => {
  const registered = (url: string) => ({
    listWebhooks: async () => ({ webhooks: [{ id: 'wh_1', url, events: ['sandbox.ready'] }] }),
  });
  const remote = 'https://api.example.com/v1';

  it.each([
    [
      'http://127.0.0.1:8080/a/webhooks/sandbox?b=/webhooks/sandbox',
      'http://127.0.0.1:1/v1',
      'http://127.0.0.1:8080/a',
    ],
    ['https://user:secret@bridge.example/webhooks/sandbox#c', remote, 'https://bridge.example'],
  ])('calls %s as the bridge of %s at %s', async (url, apiUrl, bridgeUrl) => {
    expect((await checkWebhook(registered(url), apiUrl)).bridgeUrl).toBe(bridgeUrl);
  });

  it('follows no redirect of a bridge, and shows nothing of where it leads', async () => {
    const inner = closing.keep(await startStand((_, response) => response.end('token of the machine')));
    const bridge = closing.keep(
      await startStand((_, response) => response.writeHead(302, { location: inner.url }).end()),
    );
    const { status, message } = await checkBridge(bridge.url);
    expect(status).toBe('failed');
    expect(message).not.toContain('token');
    expect(inner.seen).toEqual([]);
  });
});
