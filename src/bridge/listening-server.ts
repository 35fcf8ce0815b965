/** An HTTP server of the bridge, from its first connection to its last. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListenAddress {
  /** 0 takes any that is free. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
}

/** @throws what listening throws, such as EADDRINUSE */
export async function listenOn(handler: RequestListener, { port, host = '127.0.0.1' }: ListenAddress) {
  // The sender gives up after 5 s; a request that trickles in for longer is of no use to anybody.
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000, keepAliveTimeout: 30_000 }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const bound = (server.address() as AddressInfo).port;
  return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, port: bound };
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
