/** Checks that processes of this machine reach each other at 127.0.0.1. In a new network namespace they do not. */
import { connect, createServer } from 'node:net';
import { SandflowError } from '../errors/sandflow-error.js';

/** Any other error has another cause, which whoever needs the port will report. */
const isDown: ReadonlySet<string | undefined> = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL']);

/**
 * Opens a listener of its own, and connects to it.
 * @param host Default: 127.0.0.1.
 * @throws SandflowError `loopback_down`
 */
export async function requireLoopback(host = '127.0.0.1'): Promise<void> {
  const code = await codeOfFailure(host);
  if (!isDown.has(code)) return;
  const mend = process.platform === 'linux' ? '`ip link set lo up` (as root) brings it up' : 'bring it up';
  throw new SandflowError(
    'loopback_down',
    `The loopback network of this machine is down (${code} at ${host}), and the parts of a stack talk over it: ${mend}.`,
  );
}

function codeOfFailure(host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    const settle = (code?: string) => {
      server.close();
      resolve(code);
    };
    server.once('error', ({ code }: NodeJS.ErrnoException) => settle(code));
    server.listen({ port: 0, host, exclusive: true }, () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      const socket = connect({ host, port });
      socket.once('error', ({ code }: NodeJS.ErrnoException) => settle(code));
      socket.once('connect', () => {
        socket.destroy();
        settle();
      });
    });
  });
}
