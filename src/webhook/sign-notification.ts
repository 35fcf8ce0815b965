/**
 * Signs and verifies notifications as version `v1` of Standard Webhooks (https://www.standardwebhooks.com) specifies.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { timestampToleranceSeconds } from '../contract/records/webhook-events.js';
import { onlyValue } from './only-value.js';
import type { RefusalReason } from './verify-delivery.js';

const secretPrefix = 'whsec_';
/** The standard requires 24 to 64 bytes. */
const keyBytes = { least: 24, most: 64 };
const signaturePattern = /^v1,([A-Za-z0-9+/]{43}=)$/;
const timestampPattern = /^[0-9]{1,12}$/;

/** The input of a notification's signature. */
export interface NotificationParts {
  /** Every secret that signs, `whsec_…`; during a rotation there are several. */
  readonly secrets: readonly string[];
  /** Id of the notification, the same at every attempt to deliver it. */
  readonly id: string;
  /** Unix time of this attempt in seconds. */
  readonly timestamp: number;
  /** The exact bytes of the body; a string stands for its UTF-8 bytes. */
  readonly rawBody: Uint8Array | string;
}

/**
 * The headers that sign one attempt to deliver a notification.
 * @throws RangeError if a secret is not `whsec_` and the base64 of 24 to 64 bytes; the error does not show the secret
 * @example
 * const headers = notificationHeaders({ secrets, id: 'msg_1', timestamp: Math.floor(Date.now() / 1000), rawBody });
 */
export function notificationHeaders({ secrets, id, timestamp, rawBody }: NotificationParts): Record<string, string> {
  const signatures = secrets.map((secret) => `v1,${digest(secret, id, String(timestamp), rawBody).toString('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  };
}

/** A notification to verify, and the settings to verify it with. */
export interface NotificationToVerify {
  /** Request headers, names in lower case, as Node presents them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The exact bytes received, before any parsing. */
  readonly rawBody: Uint8Array | string;
  /** Every valid secret, `whsec_…`; during a rotation, the old one too. */
  readonly secrets: readonly string[];
  /** The current time, in ms since the epoch. Default: now. */
  readonly nowMs?: number;
  /** Maximum difference between the timestamp and now, in seconds, in either direction. Default: 300. */
  readonly toleranceSeconds?: number;
}

/** The result of `verifyNotification`. */
export type NotificationVerification =
  | {
      readonly ok: true;
      /** Id of the notification, the same for every attempt. Use it to drop repeats. */
      readonly id: string;
      /** Unix time of the attempt, in seconds. */
      readonly timestamp: number;
    }
  | { readonly ok: false; readonly reason: RefusalReason };

/**
 * Checks who sent a notification, and when. Compares in constant time; the signature is checked before the age, so that
 * `stale_timestamp` is returned only for genuine notifications.
 * @throws RangeError if one of `secrets` is not `whsec_` and the base64 of 24 to 64 bytes
 * @example
 * const { headers } = request;
 * const verified = verifyNotification({ headers, rawBody, secrets });
 * if (!verified.ok) response.writeHead(401).end();
 */
export function verifyNotification(notification: NotificationToVerify): NotificationVerification {
  const { headers, rawBody, secrets, nowMs = Date.now(), toleranceSeconds = timestampToleranceSeconds } = notification;
  const id = onlyValue(headers['webhook-id']);
  const timestamp = onlyValue(headers['webhook-timestamp']);
  const signature = onlyValue(headers['webhook-signature']);
  if (id === undefined || timestamp === undefined || signature === undefined) {
    return { ok: false, reason: 'missing_headers' };
  }
  if (id === null || timestamp === null || signature === null) return { ok: false, reason: 'malformed_headers' };
  // A sender may also sign with other versions. Only `v1` counts here.
  const received = signature.split(' ').flatMap((one) => {
    const base64 = signaturePattern.exec(one)?.[1];
    return base64 === undefined ? [] : [Buffer.from(base64, 'base64')];
  });
  if (received.length === 0 || !timestampPattern.test(timestamp)) return { ok: false, reason: 'malformed_headers' };
  const expected = secrets.map((secret) => digest(secret, id, timestamp, rawBody));
  let isGenuine = false;
  for (const ours of expected) for (const theirs of received) if (timingSafeEqual(ours, theirs)) isGenuine = true;
  if (!isGenuine) return { ok: false, reason: 'bad_signature' };
  const seconds = Number(timestamp);
  // A value that is not a number must lead to a refusal. Otherwise a missing setting would accept every replay.
  const isFresh = Math.abs(nowMs / 1_000 - seconds) <= toleranceSeconds;
  if (!isFresh) return { ok: false, reason: 'stale_timestamp' };
  return { ok: true, id, timestamp: seconds };
}

/**
 * Whether a text can sign notifications.
 * @example
 * if (!isNotificationSecret(text)) throw new Error('Not a secret that signs notifications.');
 */
export function isNotificationSecret(text: string): boolean {
  return keyOf(text) !== undefined;
}

function digest(secret: string, id: string, timestamp: string, rawBody: Uint8Array | string): Buffer {
  const key = keyOf(secret);
  if (!key) {
    throw new RangeError(`A notification secret must be "${secretPrefix}" followed by the base64 of 24 to 64 bytes.`);
  }
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest();
}

function keyOf(secret: string): Buffer | undefined {
  const base64 = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  const key = Buffer.from(base64, 'base64');
  return key.length >= keyBytes.least && key.length <= keyBytes.most ? key : undefined;
}
