/** A proxy between a worker and the service that reports each call when the service has answered. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'undici';

export interface PassedCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
}

export interface AskedCall extends Omit<PassedCall, 'status'> {
  readonly body: string;
}

/** An answer instead of the service's. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

export interface Tap {
  /** The base URL that replaces the service's. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param onAnswered called with each answered call before the caller gets the answer; if it
 *   returns false the answer is never sent
 * @param options.onAsked awaited with each call before the service gets it. If it throws, the connection ends. Default:
 *   the service gets it at once
 * @param options.refusal of a call that the service does not get. Default: none
 */
export async function createTap(
  serviceUrl: string,
  onAnswered: (call: PassedCall) => boolean,
  options: {
    readonly onAsked?: (call: AskedCall) => Promise<void> | undefined;
    readonly refusal?: (call: AskedCall) => Refusal | undefined;
  } = {},
): Promise<Tap> {
  const { origin, pathname } = new URL(serviceUrl);
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/', headers } = incoming;
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...passed } = headers;
    const body = chunks.length === 0 ? null : Buffer.concat(chunks);
    const path = url.split('?', 1)[0] ?? url;
    const call: AskedCall = { method, path, body: body?.toString() ?? '' };
    await options.onAsked?.(call);
    const refusal = options.refusal?.(call);
    if (refusal) {
      const refused = JSON.stringify({ ok: false, ...refusal, message: 'The service refuses the call.' });
      return void outgoing.writeHead(refusal.status, { 'content-type': 'application/json' }).end(refused);
    }
    const answer = await request(`${origin}${url}`, { method, headers: passed, body });
    const content = Buffer.from(await answer.body.arrayBuffer());
    if (!onAnswered({ method, path, status: answer.statusCode })) return void incoming.socket.destroy();
    outgoing.writeHead(answer.statusCode, { 'content-type': answer.headers['content-type'] ?? '' }).end(content);
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The tap has no port.');
  return {
    url: `http://127.0.0.1:${address.port}${pathname}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
