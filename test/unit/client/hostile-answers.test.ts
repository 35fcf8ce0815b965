/** A service whose lists and waits have no end. */
import { afterEach, describe, expect, it } from 'vitest';
import { createClosing, errorBody, rejectionOf, sendJson, startStand } from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

describe('the client', () => {
  it('ends a list with endless pages', async () => {
    let page = 0;
    const stand = await startStand((_, response) => {
      page += 1;
      sendJson(response, 200, { ok: true, sandboxes: [], nextCursor: String(page) });
    });
    const client = closing.client(closing.keep(stand));
    expect(await rejectionOf(client.listAllSandboxes())).toMatchObject({ code: 'list_incomplete' });
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
