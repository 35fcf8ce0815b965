/** Serves the bench's service on a port of the loopback interface. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Serving } from '../../processes/entry.js';
import { type Call, createRoutes } from './routes.js';
import type { Delays } from './sandboxes.js';

const basePath = '/v1';

export async function listenService(delays: Delays): Promise<Serving & { readonly url: string }> {
  const routes = createRoutes(delays);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const idempotencyKey = request.headers['idempotency-key'];
      const call: Call = {
        method: request.method ?? 'GET',
        path: url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : url.pathname,
        query: url.searchParams,
        key: request.headers.authorization?.replace('Bearer ', '') ?? '',
        idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
        body: chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8')),
      };
      const { status, json, isLost } = routes.answer(call);
      const answer = () => {
        if (isLost) request.socket.destroy();
        else response.writeHead(status, { 'content-type': 'application/json' }).end(json);
      };
      if (delays.answerMs > 0 && call.method === 'POST') setTimeout(answer, delays.answerMs);
      else answer();
    });
  });
  // A caller's idle connection must not close at the moment of its next call.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await routes.close();
    },
  };
}
