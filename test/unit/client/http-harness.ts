/** Real servers on port 0, and clients for them. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createSandboxClient, type SandboxClient, type SandboxClientOptions } from '../../../src/client/index.js';

export interface SeenRequest {
  readonly method: string;
  /** Path with its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Stand {
  readonly url: string;
  readonly seen: SeenRequest[];
  readonly sockets: () => number;
  close(): Promise<void>;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void;

export async function startStand(answer: Answer): Promise<Stand> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
    seen.push(one);
    answer(one, response);
  });
  return listen(server, seen);
}

/** A server below HTTP, for broken connections. */
export function startTcpStand(onSocket: (socket: Socket, index: number) => void): Promise<Stand> {
  let count = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    onSocket(socket, count++);
  });
  return listen(server, []);
}

/**
 * A port that refuses every connection until `close`. It is the local port of an open connection, so that nobody else
 * can listen there meanwhile.
 */
export async function startRefusingPort(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const stand = await startTcpStand(() => {});
  const holder = connect(Number(new URL(stand.url).port), '127.0.0.1');
  await new Promise((resolve) => holder.once('connect', resolve));
  return {
    url: `http://127.0.0.1:${holder.localPort}/v1`,
    async close() {
      holder.destroy();
      await stand.close();
    },
  };
}

async function listen(server: Server, seen: SeenRequest[]): Promise<Stand> {
  const open = new Set<Socket>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    total++;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    sockets: () => total,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function errorBody(status: number, code: string, message = 'refused', details?: Record<string, unknown>) {
  const error = details ? { code, message, status, details } : { code, message, status };
  return { ok: false, type: 'sandbox.error', status, code, message, error, requestId: 'req_1' };
}

export const aSandbox = {
  id: 'bx_23456789',
  name: 'demo',
  state: 'ready',
  desktopAvailable: false,
  snapshotAvailable: false,
};

/** Closes what a test opened after the test. */
export function createClosing() {
  const open: { close(): Promise<void> }[] = [];
  return {
    keep<T extends { close(): Promise<void> }>(one: T): T {
      open.push(one);
      return one;
    },
    client(stand: { readonly url: string }, options: Partial<SandboxClientOptions> = {}): SandboxClient {
      const client = createSandboxClient({ baseUrl: stand.url, apiKey: 'key_secret', timeoutMs: 120_000, ...options });
      open.push(client);
      return client;
    },
    async closeAll() {
      for (const one of open.splice(0).reverse()) await one.close();
    },
  };
}

/** The reason that a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not reject');
}
