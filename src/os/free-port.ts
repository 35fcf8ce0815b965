/** Which TCP ports of the loopback interface are free, and which addresses it has. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A free port on a loopback address: one of `preferred`, the first that is free, or any.
 * Another process may take it before it is used, so callers retry with a new one.
 */
export async function freePort(preferred: readonly number[] = [], host = '127.0.0.1'): Promise<number> {
  for (const port of preferred) {
    const got = await bind(port, host);
    if (got !== undefined) return got;
  }
  const any = await bind(0, host);
  if (any === undefined) throw new Error(`there is no free port on ${host}`);
  return any;
}

/**
 * A loopback address that no web page can guess, for a server without authentication: `preferred` if this machine has it. On
 * Linux all of 127.0.0.0/8 is loopback; on other systems this is 127.0.0.1.
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
