import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type CallRecord, ConnectionError } from '../../../src/client/index.js';
import { createClosing, errorBody, rejectionOf, sendJson, startStand, startTcpStand } from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const key = 'key_secret';
const everything = (value: unknown) =>
  `${inspect(value, { depth: 20, showHidden: true, getters: true })}${JSON.stringify(value)}${value instanceof Error ? value.stack : ''}`;

describe('the API key', () => {
  it('is not in the client object before or after a call', async () => {
    const stand = closing.keep(
      await startStand((_, response) => sendJson(response, 200, { ok: true, user: { login: 'a' } })),
    );
    const client = closing.client(stand);
    expect(everything(client)).not.toContain(key);
    await client.getMe();
    expect(everything(client)).not.toContain(key);
  });

  it.each([
    [
      'typed errors that quote it',
      401,
      JSON.stringify(errorBody(401, 'unauthorized', `no ${key}`, { key: `${key}!` })),
    ],
    ['untyped errors that quote it', 502, `<html>${key}</html>`],
    ['answers that are not as expected', 200, JSON.stringify({ [key]: key, user: key })],
  ])('is not in %s, nor in the record of the call', async (_, status, text) => {
    const records: CallRecord[] = [];
    const stand = closing.keep(await startStand((_request, response) => response.writeHead(status).end(text)));
    const error = await rejectionOf(closing.client(stand, { onCall: (record) => records.push(record) }).getMe());
    expect(stand.seen[0]?.headers.authorization).toContain(key);
    expect(everything(error)).not.toContain(key);
    expect(everything(records)).not.toContain(key);
  });

  it('is not in connection and timeout errors', async () => {
    const stand = closing.keep(
      await startTcpStand((socket, index) => {
        if (index === 0) socket.once('data', (bytes) => socket.end(bytes));
      }),
    );
    const client = closing.client(stand);
    const echoed = await rejectionOf(client.getMe());
    expect(echoed).toBeInstanceOf(ConnectionError);
    expect(everything(echoed)).not.toContain(key);
    const late = await rejectionOf(client.getMe({ timeoutMs: 100 }));
    expect(late).toMatchObject({ code: 'timeout' });
    expect(everything(late)).not.toContain(key);
  });

  it('is refused without being quoted if it cannot be a header', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, {})));
    const error = await rejectionOf(closing.client(stand, { apiKey: `${key}\r\nx: y` }).getMe());
    expect(error).toMatchObject({ code: 'bad_api_key' });
    expect(everything(error)).not.toContain(key);
  });
});
