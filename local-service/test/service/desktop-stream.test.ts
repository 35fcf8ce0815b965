/** The WebSocket of a desktop, as a caller uses it that is no browser. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { joinStream } from '../../src/hosting/desktop-stream.js';

const handshake = [
  ...['GET /stream HTTP/1.1', 'Host: x', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
  ...['Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==', 'Sec-WebSocket-Protocol: base64, binary', '', ''],
].join('\r\n');

/** Both ends of a connection that carries a WebSocket. */
async function open(): Promise<{ readonly caller: Socket; readonly service: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const caller = connect(port, '127.0.0.1');
  server.on('upgrade', (request, socket, head) => joinStream(request, socket, head, new PassThrough()));
  const [service] = (await once(server, 'connection')) as [Socket];
  caller.write(handshake);
  const [answer] = (await once(caller, 'data')) as [Buffer];
  expect(answer.toString().split('\r\n')).toEqual(
    expect.arrayContaining(['HTTP/1.1 101 Switching Protocols', 'Sec-WebSocket-Protocol: binary']),
  );
  caller.on('error', () => undefined);
  onTestFinished(() => {
    caller.destroy();
    service.destroy();
    server.close();
  });
  return { caller, service };
}

/** A frame with a mask of zeros. */
const frameOf = (opcode: number, size: number): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | size, 0, 0, 0, 0]), Buffer.alloc(size, 'p')]);
const ping = 9;

it('answers pings, and holds a bounded number of answers for a caller that reads none', async () => {
  const { caller, service } = await open();
  caller.write(frameOf(ping, 3));
  const [pong] = (await once(caller, 'data')) as [Buffer];
  expect(pong.toString('latin1')).toBe('\x8a\x03ppp');

  caller.pause();
  const flood = Buffer.concat(Array.from({ length: 8_000 }, () => frameOf(ping, 125)));
  for (let round = 0; round < 30; round += 1) if (!caller.write(flood)) await once(caller, 'drain');
  await expect.poll(() => service.bytesRead).toBe(caller.bytesWritten);
  expect(service.writableLength).toBeLessThan(1024 * 1024);
});

it('ends with a control frame that is too large', async () => {
  const { caller } = await open();
  caller.resume().write(Buffer.concat([Buffer.from([0x80 | ping, 0x80 | 126, 0, 126, 0, 0, 0, 0]), Buffer.alloc(126)]));
  await once(caller, 'close');
});
