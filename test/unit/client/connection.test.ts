import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectionError, TimeoutError } from '../../../src/client/index.js';
import {
  aSandbox,
  createClosing,
  rejectionOf,
  sendJson,
  startRefusingPort,
  startStand,
  startTcpStand,
} from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const id = 'bx_23456789';
const prompt = { prompt: 'hello' };
const okBytes = (body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const okBody = JSON.stringify({ ok: true, sandbox: aSandbox });

describe('S3: the client reports that a request', () => {
  it('was not sent if the port refuses the connection', async () => {
    const port = closing.keep(await startRefusingPort());
    const error = await rejectionOf(closing.client(port).sendPrompt(id, prompt));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'connection_failed', requestSent: false, reason: 'ECONNREFUSED' });
  });

  it('may have been sent if the server closes without reading', async () => {
    const stand = closing.keep(await startTcpStand((socket) => socket.destroy()));
    await expect(closing.client(stand).sendPrompt(id, prompt)).rejects.toMatchObject({ requestSent: true });
  });

  it('may have been sent if the server closes after reading, and sends it once', async () => {
    const stand = closing.keep(await startTcpStand((socket) => socket.once('data', () => socket.destroy())));
    await expect(closing.client(stand).getSandbox(id)).rejects.toMatchObject({ requestSent: true });
    expect(stand.sockets()).toBe(1);
  });

  it('may have been sent if the answer is incomplete', async () => {
    const half = okBytes(okBody).slice(0, -5);
    const stand = closing.keep(await startTcpStand((socket) => socket.once('data', () => socket.end(half))));
    const error = await rejectionOf(closing.client(stand).sendPrompt(id, prompt));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ requestSent: true });
  });

  it('may have been sent if the server does not answer with HTTP', async () => {
    const stand = closing.keep(
      await startTcpStand((socket) => socket.once('data', () => socket.end('whsec_x\r\n\r\n'))),
    );
    const error = await rejectionOf(closing.client(stand).getSandbox(id));
    expect(error).toMatchObject({ code: 'connection_failed', requestSent: true });
    expect(error).toHaveProperty('message', expect.not.stringContaining('whsec_x'));
  });

  it('was not sent if the only connection is busy until the deadline', async () => {
    let end: (() => void) | undefined;
    const stand = closing.keep(
      await startTcpStand((socket) =>
        socket.once('data', () => {
          end = () => socket.destroy();
        }),
      ),
    );
    const client = closing.client(stand, { connections: 1 });
    const first = rejectionOf(client.getSandbox(id));
    const second = await rejectionOf(client.sendPrompt(id, prompt, { timeoutMs: 50 }));
    expect(second).toBeInstanceOf(TimeoutError);
    expect(second).toMatchObject({ requestSent: false, timeoutMs: 50 });
    await expect.poll(() => end).toBeDefined();
    end?.();
    expect(await first).toMatchObject({ requestSent: true });
  });

  it('was not sent if a connection becomes free after the deadline', async () => {
    const bodies: string[] = [];
    let held: ServerResponse | undefined;
    const answer = (response: ServerResponse) => sendJson(response, 200, JSON.parse(okBody));
    const stand = closing.keep(
      await startStand((request, response) => {
        bodies.push(request.body);
        if (bodies.length === 1) held = response;
        else answer(response);
      }),
    );
    const client = closing.client(stand, { connections: 1 });
    const first = client.getSandbox(id);
    await expect(client.sendPrompt(id, prompt, { timeoutMs: 20 })).rejects.toMatchObject({ requestSent: false });
    await expect.poll(() => held).toBeDefined();
    if (held) answer(held);
    await first;
    await client.getSandbox(id);
    expect(bodies).toEqual(['', '']);
  });

  it('was sent on a new connection if the server closed the idle one', async () => {
    const stand = closing.keep(await startTcpStand((socket) => socket.once('data', () => socket.end(okBytes(okBody)))));
    const client = closing.client(stand, { connections: 1 });
    for (let call = 0; call < 5; call++) await client.getSandbox(id);
    expect(stand.sockets()).toBe(5);
  });

  it('was not sent if the idle connection was closed and no new one opens', async () => {
    let served = () => {};
    const gone = new Promise<void>((resolve) => {
      served = resolve;
    });
    const stand = await startTcpStand((socket) => {
      socket.once('data', () => socket.write(okBytes(okBody)));
      socket.once('close', () => served());
    });
    const client = closing.client(stand, { connections: 1 });
    await client.getSandbox(id);
    await stand.close();
    await gone;
    // The server's FIN waits in this process's receive queue: undici reads it before it would write.
    const error = await rejectionOf(client.sendPrompt(id, prompt));
    expect(error).toMatchObject({ requestSent: false, reason: 'ECONNREFUSED' });
  });

  it('may have been sent if the server closes a reused connection while reading', async () => {
    let requests = 0;
    const stand = closing.keep(
      await startTcpStand((socket) =>
        socket.on('data', () => {
          if (++requests === 1) socket.write(okBytes(okBody));
          else socket.destroy();
        }),
      ),
    );
    const client = closing.client(stand, { connections: 1 });
    await client.getSandbox(id);
    await expect(client.getSandbox(id)).rejects.toMatchObject({ requestSent: true });
    expect({ requests, sockets: stand.sockets() }).toEqual({ requests: 2, sockets: 1 });
  });
});

describe('a closed client', () => {
  it('refuses a call without sending it', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, {})));
    const client = closing.client(stand);
    await client.close();
    await expect(client.getMe()).rejects.toMatchObject({ code: 'connection_failed', requestSent: false });
  });
});
