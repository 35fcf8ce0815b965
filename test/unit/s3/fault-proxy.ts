/** Stands between a store and its bucket, and spoils the calls that a test names. */
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * - `lost`: the bucket answers, and the caller does not get it.
 * - `cut`: the answer ends in the middle of its body.
 * - `stalled`: the answer never gets further than there.
 * - `code`: an error instead of the call.
 * - `body`: that answer instead of the call, which is none of S3.
 * - `until`: the call waits for that before it reaches the bucket, even if its caller has given it up.
 */
export type Fault =
  | 'lost'
  | 'cut'
  | 'stalled'
  | { readonly status: number; readonly code: string }
  | { readonly status: number; readonly body: string }
  | { readonly until: Promise<unknown> };

export interface FaultProxy {
  readonly endpoint: string;
  /** The methods of all calls, in their order. */
  readonly calls: string[];
  /** Decides for each call. Default: nothing is spoiled. */
  spoil: (call: { readonly method: string; readonly url: string }) => Fault | undefined;
  /** The header that the bucket does not get at calls with this method, although it is signed. */
  dropped: { readonly header: string; readonly method: string } | undefined;
  /** The headers of an answer that the caller gets. Default: all. */
  answered: (headers: IncomingMessage['headers']) => IncomingMessage['headers'];
  close(): Promise<void>;
}

export async function createFaultProxy(endpoint: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(endpoint);

  function pass({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { dropped } = proxy;
      const passed = Object.entries(headers).filter(([name]) => name !== dropped?.header || method !== dropped.method);
      send({ hostname, port, method, path: url, headers: Object.fromEntries(passed) }, resolve)
        .on('error', reject)
        .end(body);
    });
  }

  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    proxy.calls.push(method);
    const body = await buffer(request);
    const fault = proxy.spoil({ method, url });
    if (typeof fault === 'object' && 'status' in fault) {
      const text = 'body' in fault ? fault.body : `<Error><Code>${fault.code}</Code><Message>spoilt</Message></Error>`;
      response.writeHead(fault.status, { 'content-length': text.length }).end(method === 'HEAD' ? undefined : text);
      return;
    }
    if (typeof fault === 'object') await fault.until;
    try {
      const answer = await pass(request, body);
      const content = await buffer(answer);
      if (fault === 'lost') return void request.socket.destroy();
      response.writeHead(answer.statusCode ?? 500, proxy.answered(answer.headers));
      if (fault !== 'cut' && fault !== 'stalled') return void response.end(content);
      response.write(content.subarray(0, content.length / 2), () => {
        if (fault === 'cut') request.socket.destroy();
      });
    } catch {
      request.socket.destroy();
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    spoil: () => undefined,
    dropped: undefined,
    answered: (headers) => headers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return proxy;
}
