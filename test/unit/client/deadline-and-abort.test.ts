import { afterEach, describe, expect, it } from 'vitest';
import { type CallRecord, TimeoutError } from '../../../src/client/index.js';
import { createClosing, rejectionOf, sendJson, startStand, startTcpStand } from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const id = 'bx_23456789';

/** A server that reads, sends `bytes`, then nothing, and reports when its socket closes. */
async function silentStand(bytes = '') {
  const state = { read: false, closed: false };
  const stand = closing.keep(
    await startTcpStand((socket) => {
      socket.on('data', () => {
        state.read = true;
        if (bytes) socket.write(bytes);
      });
      socket.once('close', () => {
        state.closed = true;
      });
    }),
  );
  return { url: stand.url, state };
}

describe('the deadline', () => {
  it('ends an unanswered call and closes its socket', async () => {
    const { url, state } = await silentStand();
    let timeoutMs = 30;
    let error: unknown;
    // A busy machine may take longer to connect.
    do {
      timeoutMs *= 2;
      error = await rejectionOf(closing.client({ url }, { timeoutMs }).getSandbox(id));
      expect(error).toBeInstanceOf(TimeoutError);
    } while (!(error as TimeoutError).requestSent);
    expect(error).toMatchObject({ code: 'timeout', requestSent: true, endpoint: 'getSandbox', timeoutMs });
    await expect.poll(() => state.closed).toBe(true);
  });

  it('covers the body and not only the headers', async () => {
    const { url } = await silentStand('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok"');
    await expect(closing.client({ url }).getSandbox(id, { timeoutMs: 60 })).rejects.toBeInstanceOf(TimeoutError);
  });

  it('of a call overrides that of the client', async () => {
    let answers = false;
    const stand = closing.keep(
      await startStand((_, response) => {
        if (answers) setTimeout(() => sendJson(response, 200, { ok: true, user: { login: 'a' } }), 80);
      }),
    );
    const client = closing.client(stand, { timeoutMs: 10 });
    await expect(client.getMe()).rejects.toBeInstanceOf(TimeoutError);
    answers = true;
    await expect(client.getMe({ timeoutMs: 120_000 })).resolves.toMatchObject({ user: { login: 'a' } });
  });
});

describe('an abort', () => {
  it('rejects with the reason of the signal and closes the socket', async () => {
    const { url, state } = await silentStand();
    const records: CallRecord[] = [];
    const client = closing.client({ url }, { onCall: (record) => records.push(record) });
    const controller = new AbortController();
    const reason = { why: 'cancelled' };
    const rejection = rejectionOf(client.getSandbox(id, { signal: controller.signal }));
    await expect.poll(() => state.read).toBe(true);
    controller.abort(reason);
    expect(await rejection).toBe(reason);
    await expect.poll(() => state.closed).toBe(true);
    expect(records).toMatchObject([{ errorCode: 'aborted', status: null }]);
  });

  it('before the call sends nothing', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, {})));
    const reason = new Error('too late');
    const call = closing.client(stand).getMe({ signal: AbortSignal.abort(reason) });
    expect(await rejectionOf(call)).toBe(reason);
    expect(stand.sockets()).toBe(0);
  });

  it('while the key is read sends nothing', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, {})));
    const controller = new AbortController();
    const client = closing.client(stand, {
      apiKey: () => {
        controller.abort('no more');
        return 'k';
      },
    });
    expect(await rejectionOf(client.getMe({ signal: controller.signal }))).toBe('no more');
    expect(stand.sockets()).toBe(0);
  });
});
