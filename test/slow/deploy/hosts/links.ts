/** What leads from one network to another. */
import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface Address {
  readonly host: string;
  readonly port: number;
}

interface Closable {
  close(): Promise<void>;
}

interface Forward extends Closable {
  /** Ends the connections, so that the next ones ask for their target. */
  cut(): void;
}

/** Passes each connection to an address on to the one that `target` names then, as a URL. */
export async function forward(address: Address, target: () => string): Promise<Forward> {
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const { hostname, port } = new URL(target());
    const to = connect(Number(port), hostname);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  });
  server.listen(address);
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    cut,
    async close() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}

/** Passes each request on to the next of these servers in turn, whether it answers or not. */
export async function alternate(servers: readonly Address[]): Promise<Closable & { readonly url: string }> {
  let turn = 0;
  const server = createHttpServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const asked = request({ ...servers[turn++ % servers.length], method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on('error', () => outgoing.destroy());
    outgoing.on('close', () => asked.destroy());
    incoming.pipe(asked);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
