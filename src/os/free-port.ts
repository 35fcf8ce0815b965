/** Finds free TCP ports and unguessable addresses of the loopback interface. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Finds a free port on a loopback address: the first of `preferred` that is free, or else any port. Another process may
 * take the port before it is used, so callers retry with a new one.
 */
export async function freePort(preferred: readonly number[] = [], host = '127.0.0.1'): Promise<number> {
  for (const port of preferred) {
    const got = await bind(port, host);
    if (got !== undefined) return got;
  }
  const any = await bind(0, host);
  if (any === undefined) throw new Error(`no port is free on ${host}`);
  return any;
}

/**
 * Chooses a loopback address that no web page can guess, for a server without authentication. Returns `preferred` if
 * this machine has that address. Otherwise returns a random address on Linux, where all of 127.0.0.0/8 is loopback, and
 * 127.0.0.1 on other systems.
 */
export async function unguessableLoopback(preferred?: string): Promise<string> {
  const random = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  for (const host of [preferred, random]) if (host && (await bind(0, host)) !== undefined) return host;
  return '127.0.0.1';
}

function bind(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}
