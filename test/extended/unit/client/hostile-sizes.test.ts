/** Answers of a service that are large, or that hold what no line of output may hold. */
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, TimeoutError } from '../../../../src/client/index.js';
import { aSandbox, createClosing, errorBody, rejectionOf, startStand } from '../../../unit/client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const mib = 1024 ** 2;
async function clientOf(body: string, status = 200) {
  return closing.client(closing.keep(await startStand((_, response) => response.writeHead(status).end(body))));
}

describe('a list', () => {
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
