/** A service that tries to block its clients or fill their memory. */
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, UnexpectedResponseError } from '../../../src/client/index.js';
import { aSandbox, createClosing, errorBody, rejectionOf, sendJson, startStand } from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

async function clientOfText(status: number, text: string) {
  return closing.client(closing.keep(await startStand((_, response) => response.writeHead(status).end(text))));
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('the client', () => {
  it.each([
    ['millions of rows that are none', `{"ok":true,"sandboxes":[{}${',{}'.repeat(3_000_000)}]}`],
    ['levels without end', `{"ok":true,"sandboxes":[{"id":5}],"more":${deep(1_000_000)}}`],
  ])('refuses an answer with %s before parsing it', async (_what, text) => {
    const client = await clientOfText(200, text);
    const error = await rejectionOf(client.listSandboxes());
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ field: 'body', message: expect.stringContaining('too many') });
    expect(await rejectionOf((await clientOfText(500, text)).listSandboxes())).toBeInstanceOf(ApiError);
  });

  it('accepts texts with any number of commas and brackets', async () => {
    const name = `${',['.repeat(1_000_000)}\\\\"`;
    const client = await clientOfText(200, JSON.stringify({ ok: true, sandboxes: [{ ...aSandbox, name }] }));
    expect((await client.listSandboxes()).sandboxes[0]?.name).toBe(name);
  });

  it('counts only levels that are open at once', async () => {
    const more = Array.from({ length: 200 }, () => ({ empty: [] }));
    const client = await clientOfText(200, JSON.stringify({ ok: true, sandboxes: [aSandbox], more }));
    expect((await client.listSandboxes()).sandboxes).toHaveLength(1);
  });

  it('ends a list with endless pages', async () => {
    let page = 0;
    const stand = await startStand((_, response) => {
      page += 1;
      sendJson(response, 200, { ok: true, sandboxes: [], nextCursor: String(page) });
    });
    const client = closing.client(closing.keep(stand));
    expect(await rejectionOf(client.listAllSandboxes())).toMatchObject({ code: 'unexpected_response' });
    expect(page).toBe(1_000);
  });

  it.each(['99999999999', '9'.repeat(400), 'Fri, 01 Jan 9999 00:00:00 GMT'])(
    'limits a wait to one day: Retry-After %s',
    async (header) => {
      const stand = await startStand((_, response) =>
        sendJson(response, 429, errorBody(429, 'rate_limited'), { 'retry-after': header }),
      );
      expect(await rejectionOf(closing.client(closing.keep(stand)).getMe())).toMatchObject({
        retryAfterMs: 24 * 60 * 60 * 1_000,
      });
    },
  );
});
