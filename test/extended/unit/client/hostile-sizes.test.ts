/** Answers of a service that cost whoever reads them far more than the bytes that were sent. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { listAllSandboxes } from '../../../../src/client/areas/sandbox-calls.js';
import { ApiError, type SandboxClient, TimeoutError, UnexpectedResponseError } from '../../../../src/client/index.js';
import {
  aSandbox,
  createClosing,
  errorBody,
  rejectionOf,
  startStand,
  startTcpStand,
} from '../../../unit/client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const mib = 1024 ** 2;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are held outside of the heap once nothing is left to collect. */
function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

async function clientOf(body: string, status = 200) {
  return closing.client(closing.keep(await startStand((_, response) => response.writeHead(status).end(body))));
}

describe('an answer in pieces of one byte', () => {
  it('takes no more memory than its bytes, however much of the connection each piece takes', async () => {
    let before = 0;
    let arrived = false;
    let end = (): void => undefined;
    // An extension of a chunk fills a read of the socket; the byte after it is a small part of that read.
    const piece = Buffer.from(`1;${'x'.repeat(60_000)}\r\n \r\n`);
    const stand = await startTcpStand((socket) => {
      socket.once('data', async () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        before = heldBytes();
        for (let count = 0; count < 1_500; count += 1) {
          await new Promise((resolve) => socket.write(piece, resolve));
        }
        end = () => socket.write(`b\r\n{"ok":true}\r\n0\r\n\r\n`);
        arrived = true;
      });
    });
    const client = closing.client(closing.keep(stand), { timeoutMs: 600_000 });
    const ended = rejectionOf(client.getMe());
    await expect.poll(() => arrived).toBe(true);
    // What nobody holds any longer is freed a moment after the collection; what the call holds, at its end.
    try {
      await expect.poll(() => heldBytes() - before).toBeLessThan(10 * mib);
    } finally {
      end();
      await ended;
    }
  });
});

describe('a list', () => {
  const row = JSON.stringify(aSandbox);

  it('of hundreds of thousands of bad fields is refused before each of them is described', async () => {
    const fields = ['name', 'error', 'health', 'type', 'url', 'ip', 'team', 'access', 'createdBy', 'subdomain'];
    const bad = `{"id":"bx_23456789","state":"ready",${fields.map((name) => `"${name}":1`).join()}}`;
    const client = await clientOf(`{"ok":true,"sandboxes":[${Array(25_000).fill(bad).join()}]}`);
    expect(await rejectionOf(client.listSandboxes({}))).toBeInstanceOf(UnexpectedResponseError);
  });

  it('of a hundred thousand rows is read with one bad row among them', async () => {
    const small = '{"id":"bx_23456789","state":"ready"}';
    const body = `{"ok":true,"sandboxes":[${Array(140_000).fill(small).join()},{}]}`;
    const client = await clientOf(body);
    let [leftOut, bytes] = [0, 0];
    const { sandboxes } = await client.listSandboxes(
      {},
      { onRowsLeftOut: (rows) => (leftOut = rows), onBodyRead: (size) => (bytes = size) },
    );
    expect([sandboxes.length, leftOut, bytes]).toEqual([140_000, 1, body.length]);
  });

  it('ends where its pages are too large together', async () => {
    let page = 0;
    const listPage: SandboxClient['listSandboxes'] = async (_, options) => {
      page += 1;
      options?.onBodyRead?.(50 * mib);
      return { ok: true, sandboxes: [aSandbox], nextCursor: String(page) };
    };
    const error = await rejectionOf(listAllSandboxes(listPage));
    expect(error).toMatchObject({ code: 'unexpected_response', field: 'nextCursor' });
    expect(page).toBe(3);
  });

  it('ends where its cursor is a text of megabytes, which a thousand pages would add up', async () => {
    const client = await clientOf(`{"ok":true,"sandboxes":[${row}],"nextCursor":"${'c'.repeat(5_000)}"}`);
    expect(await rejectionOf(client.listAllSandboxes())).toMatchObject({ code: 'unexpected_response' });
  });

  it.each(['two\nlines', 'x'.repeat(200), 'left\u202eright', '\u001b[2J'])(
    'leaves out a row whose id or state is %j',
    async (text) => {
      const rows = [{ ...aSandbox, id: text }, { ...aSandbox, state: text }, aSandbox];
      const client = await clientOf(JSON.stringify({ ok: true, sandboxes: rows }));
      expect((await client.listSandboxes()).sandboxes).toEqual([aSandbox]);
    },
  );
});

describe('an error', () => {
  it('is short, and names its status where its code is none', async () => {
    const long = 'x'.repeat(mib);
    const body = { ...errorBody(409, long, long, { long }), requestId: long };
    const error = await rejectionOf((await clientOf(JSON.stringify(body), 409)).getMe());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'http_409', typed: true, requestId: null, details: null });
    expect(String((error as ApiError).message).length).toBeLessThan(10_000);
  });

  it('in place of a download ends in time, also where a piece of it comes ever again', async () => {
    const stand = await startStand((_, response) => {
      response.writeHead(500);
      const drip = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(drip));
    });
    const client = closing.client(closing.keep(stand));
    const opening = client.openArtifact(aSandbox.id, 'file', { timeoutMs: 1_000 });
    expect(await rejectionOf(opening)).toBeInstanceOf(TimeoutError);
  });
});
