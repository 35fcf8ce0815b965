/** Which TCP ports of the loopback interface are free. */
import { createServer } from 'node:net';

/**
 * A free port on 127.0.0.1: one of `preferred`, the first that is free, or any.
 * It may be taken by somebody else before it is used, so callers try again with another.
 */
export async function freePort(preferred: readonly number[] = []): Promise<number> {
  for (const port of preferred) {
    const got = await bind(port);
    if (got !== undefined) return got;
  }
  const any = await bind(0);
  if (any === undefined) throw new Error('there is no free port on 127.0.0.1');
  return any;
}

function bind(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}
