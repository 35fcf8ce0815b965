/** The way of webhooks from the service to the bridge: loses, doubles, delays, reorders, falsifies and repeats them. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import { deliveryHeaders } from '../../../src/contract/records/webhook-events.js';
import type { Plan, Trouble } from '../plan/plan.js';

type WebhookTrouble = Extract<Trouble, { readonly kind: 'webhook' }>;

export interface Post {
  /** The URL that the service delivers to. */
  readonly url: string;
  readonly struck: ReadonlySet<string>;
  /** Deliveries that the bridge should have refused and did not, as sentences. */
  readonly broken: readonly string[];
  close(): Promise<void>;
}

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const delayMs = 2_000;
const replayMs = 6_000;
/** A held event is sent on after this time even if no other follows. */
const heldMs = 5_000;

export async function createPost(bridgeUrl: string, plan: Plan, onFailure: (error: unknown) => void): Promise<Post> {
  const troubles = plan.troubles.filter((one): one is WebhookTrouble => one.kind === 'webhook');
  const struck = new Set<string>();
  const broken: string[] = [];
  const seen = new Map<string, number>();
  const known = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  let held: (() => void) | undefined;

  const send = async ({ headers, body }: Delivery): Promise<number> => {
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...passed } = headers;
    const answer = await request(bridgeUrl, { method: 'POST', headers: passed, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  const later = (ms: number, what: () => Promise<unknown>) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      what().catch(onFailure);
    }, ms);
    timers.add(timer);
    return timer;
  };
  /** Sends what the bridge must refuse. */
  const sendFalse = async (what: string, delivery: Delivery) => {
    const status = await send(delivery);
    if (status < 300) broken.push(`the bridge accepted ${what}`);
    return status;
  };

  async function deliver(delivery: Delivery, trouble: WebhookTrouble | undefined): Promise<number> {
    const { headers, body } = delivery;
    switch (trouble?.does) {
      case undefined:
        return send(delivery);
      case 'drop':
        return 200;
      case 'double':
        await send(delivery);
        return send(delivery);
      case 'delay':
        later(delayMs, () => send(delivery));
        return 200;
      case 'hold': {
        const timer = later(heldMs, () => send(delivery));
        held = () => {
          clearTimeout(timer);
          timers.delete(timer);
          send(delivery).catch(onFailure);
        };
        return 200;
      }
      case 'old_secret':
        // The answer is the bridge's, so that the service sends the event again.
        return sendFalse('an event with a false signature', {
          headers: { ...headers, [deliveryHeaders.signature]: `v1=${randomBytes(32).toString('hex')}` },
          body,
        });
      case 'forge': {
        const { [deliveryHeaders.signature]: _, ...unsigned } = headers;
        await sendFalse('an unsigned event', { headers: unsigned, body });
        return send(delivery);
      }
      case 'replay':
        later(replayMs, () => send(delivery));
        return send(delivery);
    }
  }

  const server = createServer(async (incoming, outgoing) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const delivery = { headers: incoming.headers, body: Buffer.concat(chunks) };
      const { type = '' } = JSON.parse(delivery.body.toString('utf8')) as { readonly type?: string };
      const id = String(incoming.headers[deliveryHeaders.delivery]);
      // A repeated attempt is not another event.
      const isNew = !known.has(id);
      known.add(id);
      const nth = (seen.get(type) ?? 0) + (isNew ? 1 : 0);
      seen.set(type, nth);
      const trouble = isNew
        ? troubles.find(({ event, nth: at, times }) => event === type && nth >= at && nth < at + times)
        : undefined;
      if (trouble) struck.add(trouble.key);
      const release = held;
      held = undefined;
      const status = await deliver(delivery, trouble);
      release?.();
      outgoing.writeHead(status).end();
    } catch {
      // The bridge is away: the service tries again.
      incoming.socket.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The post has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    struck,
    broken,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
