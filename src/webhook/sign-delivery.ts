import { createHmac } from 'node:crypto';
import { deliveryHeaders } from '../contract/records/webhook-events.js';

/** The input of a delivery's signature (specification, "Events"). */
export interface SignedParts {
  /** The endpoint's secret, `whsec_…`; the whole text is the key. */
  readonly secret: string;
  /** The value of the delivery header. */
  readonly deliveryId: string;
  /** Unix time of this attempt in seconds, as the header spells it. */
  readonly timestamp: string | number;
  /** The exact bytes of the body; a string stands for its UTF-8 bytes. */
  readonly rawBody: Uint8Array | string;
}

/**
 * The signature of a delivery: `v1=` and the hex HMAC-SHA256 of `deliveryId.timestamp.rawBody` (specification,
 * "Events").
 * @example
 * const signature = sign({ secret, deliveryId: 'evt_1', timestamp: Math.floor(Date.now() / 1000), rawBody });
 */
export function sign(parts: SignedParts): string {
  return `v1=${digestOf(parts).toString('hex')}`;
}

/** The 32 bytes of the signature. */
export function digestOf({ secret, deliveryId, timestamp, rawBody }: SignedParts): Buffer {
  return createHmac('sha256', secret).update(`${deliveryId}.${timestamp}.`).update(rawBody).digest();
}

/** The input of a delivery's headers. */
export interface DeliveryParts extends SignedParts {
  /** Event type, such as `sandbox.ready`. */
  readonly event: string;
  /** Attempt number, from 1. Default: 1. */
  readonly attempt?: number;
}

/**
 * The headers of one attempt to deliver, for senders: the local service and tests.
 * @example
 * const timestamp = Math.floor(Date.now() / 1000);
 * const headers = deliveryHeadersFor({ secret, deliveryId: 'evt_1', timestamp, rawBody, event: 'sandbox.ready' });
 * await fetch(url, { method: 'POST', headers, body: rawBody });
 */
export function deliveryHeadersFor(parts: DeliveryParts): Record<string, string> {
  return {
    'content-type': 'application/json',
    [deliveryHeaders.event]: parts.event,
    [deliveryHeaders.delivery]: parts.deliveryId,
    [deliveryHeaders.timestamp]: String(parts.timestamp),
    [deliveryHeaders.signature]: sign(parts),
    [deliveryHeaders.attempt]: String(parts.attempt ?? 1),
  };
}
