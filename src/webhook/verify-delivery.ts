import { timingSafeEqual } from 'node:crypto';
import { deliveryHeaders, deliveryHeadersOf, timestampToleranceSeconds } from '../contract/records/webhook-events.js';
import { ownHeaderPrefix } from '../contract/request-form.js';
import { onlyValue } from './only-value.js';
import { digestOf } from './sign-delivery.js';

/** A delivery to verify, and the settings to verify it with. */
export interface DeliveryToVerify {
  /** Request headers, names in lower case, as Node presents them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The exact bytes received, before any parsing. */
  readonly rawBody: Buffer;
  /** Every valid secret; during a rotation, the old one too. */
  readonly secrets: readonly string[];
  /** The current time, in ms since the epoch. */
  readonly nowMs: number;
  /** Maximum difference between the timestamp and now, in seconds, in either direction. Default: 300. */
  readonly toleranceSeconds?: number;
}

/** Why a delivery or a notification is refused. */
export type RefusalReason = 'missing_headers' | 'malformed_headers' | 'bad_signature' | 'stale_timestamp';

/** The result of `verifyDelivery`. */
export type Verification =
  | {
      readonly ok: true;
      readonly deliveryId: string;
      /** Unix time in seconds. */
      readonly timestamp: number;
      /** Attempt number from 1; 0 if the header is missing or not a number. The header is not signed. */
      readonly attempt: number;
      /** Index in `secrets` of the secret that signed the delivery. */
      readonly secretIndex: number;
      /** How the names of its headers begin if not with `x-svc-`, in lower case. */
      readonly headerPrefix?: string;
    }
  | {
      readonly ok: false;
      readonly reason: RefusalReason;
      /** Of a stale timestamp: the time here minus the timestamp, in seconds. */
      readonly skewSeconds?: number;
    };

const signaturePattern = /^v1=([0-9a-fA-F]{64})$/;
const timestampPattern = /^[0-9]{1,12}$/;

/**
 * Checks the signature and the age of a delivery (specification, "Events"). Compares in constant time with every
 * secret, so that the duration does not reveal which byte or which secret was wrong. The signature is checked before
 * the age, so that `stale_timestamp` is returned only for genuine deliveries.
 * @example
 * const { headers } = request;
 * const verified = verifyDelivery({ headers, rawBody, secrets, nowMs: Date.now() });
 * if (!verified.ok) response.writeHead(401).end(verified.reason);
 */
export function verifyDelivery(delivery: DeliveryToVerify): Verification {
  const prefixes = prefixesIn(delivery.headers);
  const first = verifyIn(prefixes[0] ?? ownHeaderPrefix, delivery);
  if (first.ok) return first;
  for (const prefix of prefixes.slice(1)) {
    const other = verifyIn(prefix, delivery);
    if (other.ok) return other;
  }
  return first;
}

/** A relay may add a family of its own. Anybody may send many. */
const prefixesAtMost = 4;

/**
 * How the headers of a signature begin, its own family first. The specification shows the family `X-Svc-*` as an example
 * (assumption `A-header-family`). The signature proves whose a delivery is, so any family is taken that has all its
 * headers.
 */
function prefixesIn(headers: DeliveryToVerify['headers']): string[] {
  if (headers[deliveryHeaders.signature] !== undefined) return [ownHeaderPrefix];
  return Object.keys(headers)
    .filter((name) => name.endsWith('-signature'))
    .map((name) => name.slice(0, -'signature'.length))
    .filter((prefix) => {
      const { delivery, timestamp } = deliveryHeadersOf(prefix);
      return headers[delivery] !== undefined && headers[timestamp] !== undefined;
    })
    .slice(0, prefixesAtMost);
}

function verifyIn(prefix: string, delivery: DeliveryToVerify): Verification {
  const { headers, rawBody, secrets, nowMs, toleranceSeconds = timestampToleranceSeconds } = delivery;
  const names = deliveryHeadersOf(prefix);
  const deliveryId = onlyValue(headers[names.delivery]);
  const timestamp = onlyValue(headers[names.timestamp]);
  const signature = onlyValue(headers[names.signature]);
  if (deliveryId === undefined || timestamp === undefined || signature === undefined) {
    return { ok: false, reason: 'missing_headers' };
  }
  if (deliveryId === null || timestamp === null || signature === null)
    return { ok: false, reason: 'malformed_headers' };
  const hex = signaturePattern.exec(signature)?.[1];
  if (hex === undefined || !timestampPattern.test(timestamp)) return { ok: false, reason: 'malformed_headers' };

  const received = Buffer.from(hex, 'hex');
  let secretIndex = -1;
  for (const [index, secret] of secrets.entries()) {
    // An empty key would let anybody sign.
    if (secret === '') continue;
    const equal = timingSafeEqual(received, digestOf({ secret, deliveryId, timestamp, rawBody }));
    if (equal && secretIndex === -1) secretIndex = index;
  }
  if (secretIndex === -1) return { ok: false, reason: 'bad_signature' };

  const seconds = Number(timestamp);
  // A value that is not a number must lead to a refusal. Otherwise a missing setting would accept every replay.
  const skewSeconds = nowMs / 1000 - seconds;
  if (!(Math.abs(skewSeconds) <= toleranceSeconds)) return { ok: false, reason: 'stale_timestamp', skewSeconds };
  return {
    ok: true,
    deliveryId,
    timestamp: seconds,
    attempt: attemptOf(headers[names.attempt]),
    secretIndex,
    ...(prefix !== ownHeaderPrefix && { headerPrefix: prefix }),
  };
}

function attemptOf(header: string | string[] | undefined): number {
  const value = onlyValue(header) ?? '';
  return /^[0-9]{1,6}$/.test(value) ? Number(value) : 0;
}
