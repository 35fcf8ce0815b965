import type { AddressInfo, Server } from 'node:net';

/**
 * Lets a server listen.
 * @param address port 0: any free one. Default of the host: 127.0.0.1
 * @returns the address that it got
 * @throws errors of listening, such as EADDRINUSE
 */
export async function listen(
  server: Server,
  { port, host = '127.0.0.1' }: { readonly port: number; readonly host?: string },
): Promise<{ readonly url: string; readonly port: number }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, port: bound };
}
