/** One attempt to deliver one event: a signed POST, no redirects, a deadline. */
import { Agent, request } from 'undici';
import { ownHeaderPrefix } from '../../../src/contract/request-form.js';
import { deliveryHeadersFor } from '../../../src/webhook/index.js';
import { otherName, otherVocabulary } from '../core/legacy-vocabulary.js';
import { reasonOf } from '../log.js';
import type { QueuedDelivery } from '../store/delivery-store.js';
import type { WebhookRecord } from '../store/webhook-store.js';
import { createPublicLookup, type ResolveHost } from './public-address.js';
import { isLoopbackUrl, requireWebhookUrl } from './url-rules.js';

interface AttemptResult {
  /** Null if no answer came. */
  readonly status: number | null;
  readonly error: string | null;
}

export type DeliverySender = ReturnType<typeof createDeliverySender>;

/** @param options.strictUrls if true, sends nothing to this machine, even for a URL that was registered before */
export function createDeliverySender(options: {
  readonly timeoutMs: number;
  readonly strictUrls: boolean;
  readonly resolveHost: ResolveHost;
  /** How the names of the service's own headers begin. */
  readonly headerPrefix: string;
}) {
  const { timeoutMs, strictUrls, resolveHost, headerPrefix } = options;
  const loopback = new Agent({ connections: 32, keepAliveTimeout: 4_000 });
  const elsewhere = new Agent({
    connections: 32,
    keepAliveTimeout: 4_000,
    connect: { lookup: createPublicLookup(resolveHost) },
  });
  const inFlight = new Set<AbortController>();

  return {
    async send(webhook: WebhookRecord, delivery: QueuedDelivery): Promise<AttemptResult> {
      // The real time and not that of the service's clock, because the receiver compares it with its own time.
      const timestamp = Math.floor(Date.now() / 1000);
      const { event, body: rawBody } = spelledFor(webhook, delivery);
      const signed = deliveryHeadersFor({
        secret: webhook.secret,
        event,
        deliveryId: delivery.eventId,
        timestamp,
        rawBody,
        attempt: delivery.attempts + 1,
      });
      const headers = Object.fromEntries(
        Object.entries(signed).map(([name, value]) => [name.replace(ownHeaderPrefix, headerPrefix), value]),
      );
      const abort = new AbortController();
      let late = false;
      const deadline = setTimeout(() => {
        late = true;
        abort.abort();
      }, timeoutMs);
      inFlight.add(abort);
      try {
        // The URL is checked again: it may come from a time when the service was less strict.
        const url = requireWebhookUrl(webhook.url, strictUrls);
        const { statusCode, body } = await request(url, {
          method: 'POST',
          headers,
          body: rawBody,
          dispatcher: isLoopbackUrl(url) ? loopback : elsewhere,
          signal: abort.signal,
        });
        // The body of the answer is ignored.
        await body.dump({ limit: 16_384, signal: abort.signal }).catch(() => undefined);
        return { status: statusCode, error: null };
      } catch (cause) {
        return { status: null, error: late ? `no answer within ${timeoutMs} ms` : reasonOf(cause) };
      } finally {
        clearTimeout(deadline);
        inFlight.delete(abort);
      }
    },
    /** Aborts every attempt that is under way. */
    abortAll() {
      for (const abort of inFlight) abort.abort();
    },
    async close() {
      await Promise.all([loopback.destroy(), elsewhere.destroy()]);
    },
  };
}

interface Spelled {
  /** The event header. */
  readonly event: string;
  /** The exact bytes that are signed and sent. */
  readonly body: string;
}

/**
 * Writes an event in the vocabulary of its webhook: a legacy webhook receives `box.*` with `data.box`. Every attempt
 * derives the same bytes from the stored event, so that repeated deliveries are equal.
 */
function spelledFor(webhook: { readonly legacy: boolean }, stored: { type: string; body: string }): Spelled {
  if (!webhook.legacy) return { event: stored.type, body: stored.body };
  const { data, ...envelope } = JSON.parse(stored.body) as { readonly data: unknown };
  const body = JSON.stringify({ ...(otherVocabulary(envelope) as object), data: otherVocabulary(data) });
  return { event: otherName(stored.type), body };
}
