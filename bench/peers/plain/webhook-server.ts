/** A small HTTP server for webhooks. It answers 500 if the event could not be handled, so that it comes again. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyDelivery } from '../../../src/webhook/index.js';

export interface PlainEvent {
  readonly type: string;
  readonly sandboxId: string;
  readonly sandboxName: string;
}

interface Payload {
  readonly type: string;
  readonly data: { readonly sandbox: { readonly id: string; readonly name: string } };
}

export async function serveWebhooks(options: {
  readonly port: number;
  readonly secret: string;
  readonly onEvent: (event: PlainEvent) => Promise<void> | void;
}) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const rawBody = Buffer.concat(chunks);
      const delivery = { headers: request.headers, rawBody, secrets: [options.secret], nowMs: Date.now() };
      if (!verifyDelivery(delivery).ok) return response.writeHead(401).end();
      const { type, data } = JSON.parse(rawBody.toString('utf8')) as Payload;
      try {
        await options.onEvent({ type, sandboxId: data.sandbox.id, sandboxName: data.sandbox.name });
        response.writeHead(204).end();
      } catch {
        response.writeHead(500).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close(): Promise<unknown> {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
