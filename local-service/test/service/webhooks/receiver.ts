/** Receives webhooks on a free port, verifies them, and keeps them. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly id: string;
    readonly type: string;
    readonly createdAt: string;
    readonly data: {
      readonly sandbox: { readonly id: string; readonly name: string };
      readonly previousState?: string;
      readonly state?: string;
    };
  };
  readonly rawBody: Buffer;
  readonly receivedAt: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The deliveries of one type or one sandbox. */
  of(filter: { readonly type?: string; readonly sandboxId?: string }): Received[];
  /** Waits until this many of them have arrived. */
  waitFor(count: number, filter?: { readonly type?: string; readonly sandboxId?: string }): Promise<Received[]>;
}

/** @param answer ends the response; by default 204 */
export async function startReceiver(
  answer: (response: ServerResponse, delivery: Received, number: number) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const rawBody = Buffer.concat(chunks);
    const body = JSON.parse(rawBody.toString());
    const delivery = { headers: request.headers, body, rawBody, receivedAt: performance.now() };
    received.push(delivery);
    answer(response, delivery, received.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const of: Receiver['of'] = ({ type, sandboxId }) =>
    received.filter(
      ({ body }) =>
        (type === undefined || body.type === type) && (sandboxId === undefined || body.data.sandbox.id === sandboxId),
    );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    of,
    waitFor: (count, filter = {}) =>
      vi.waitFor(
        () => {
          const found = of(filter);
          if (found.length < count) throw new Error(`${found.length} of ${count} deliveries have come`);
          return found;
        },
        // As long as the polls of the project.
        { timeout: 120_000, interval: 5 },
      ),
  };
}

/** A client of the service for tests of every kind. */
interface Caller {
  call(
    method: string,
    path: string,
    options: { readonly body: unknown },
  ): Promise<{ readonly body: { readonly webhook: { readonly id: string }; readonly secret: string } }>;
}

const allEvents = ['sandbox.ready', 'sandbox.hydrated', 'sandbox.error', 'sandbox.archived'];

export async function register(
  under: Caller,
  url: string,
  events: readonly string[] = allEvents,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { body } = await under.call('POST', '/webhooks', { body: { name: 'test', url, events } });
  return { id: body.webhook.id, secret: body.secret };
}

/** Follows the specification ("Events"), and none of our own code: our signer and our verifier could share an error. */
export function isSignedWith(secret: string, { headers, rawBody }: Received): boolean {
  const signed = `${headers['x-svc-delivery']}.${headers['x-svc-timestamp']}.`;
  const hex = createHmac('sha256', secret).update(signed).update(rawBody).digest('hex');
  const isFresh = Math.abs(Date.now() / 1000 - Number(headers['x-svc-timestamp'])) <= 300;
  return isFresh && headers['x-svc-signature'] === `v1=${hex}`;
}
