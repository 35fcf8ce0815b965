import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { boundStrangers, type Strangers } from '../../../src/os/bound-strangers.js';
import { readSource, sourceFiles } from '../house/source-imports.js';

/** A server that admits whoever sends `key`, and lets three others wait. */
async function bounded(server: Server = createServer()) {
  const sockets: Socket[] = [];
  const strangers: Strangers = boundStrangers(server, { most: 3 });
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (text) => String(text) === 'key' && strangers.admit(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  /** Resolves when the server has the connection. */
  const enter = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    return socket.resume();
  };
  return { strangers, enter };
}

const left = (socket: Socket) => socket.closed || once(socket, 'close');

test('the oldest connection without a login goes first', async () => {
  const { strangers, enter } = await bounded();
  const [first, second] = [await enter(), await enter()];
  await enter();
  await enter();
  await left(first);
  await enter();
  await left(second);
  expect(strangers.open.size).toBe(3);
});

test('a connection with a login stays, however many come after it', async () => {
  const { strangers, enter } = await bounded();
  const owner = await enter();
  owner.write('key');
  await expect.poll(() => strangers.open.size).toBe(0);
  const oldest = await enter();
  for (let count = 0; count < 9; count += 1) await enter();
  await left(oldest);
  expect(owner.closed).toBe(false);
});

test('a whole request makes a connection the youngest, half of one does not', async () => {
  const { enter } = await bounded(createHttpServer((_, response) => response.end('answer')));
  const [asks, asksHalf] = [await enter(), await enter()];
  asksHalf.write('GET / HTTP/1.1\r\nHost:');
  asks.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(asks, 'data');
  await enter();
  await enter();
  await left(asksHalf);
  expect(asks.closed).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'a peer with more than half of the connections makes room itself',
  async () => {
    const { enter } = await bounded();
    const quiet = await enter('127.0.0.2');
    const oldest = await enter();
    await enter();
    await enter();
    await left(oldest);
    expect(quiet.closed).toBe(false);
  },
);

test('every server of the program has such a bound', () => {
  /** They listen for a moment to find a port, or for one sandbox, which fills no more than its own share. */
  const others = ['src/os/free-port.ts', 'local-service/src/machine/network/allowed-ports.ts'];
  const servers = sourceFiles('src', 'local-service/src').filter((file) =>
    /import \{[^}]*\bcreateServer\b[^}]*\} from 'node:/.test(readSource(file)),
  );
  const unbounded = servers.filter((file) => !readSource(file).includes('boundStrangers('));
  expect(unbounded.filter((file) => !others.includes(file))).toEqual([]);
  expect(servers.length).toBeGreaterThan(5);
});
