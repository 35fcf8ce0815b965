/**
 * Handles a delivery: verifies the raw bytes, parses them, sends signals, and only then acknowledges. An invalid
 * delivery is refused before any signal is sent. The answer 503 (`unavailable`) may follow some of the signals.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Client } from '@temporalio/client';
import { parseSandboxWebhookEvent, type SandboxWebhookEvent } from '../contract/records/webhook-events.js';
import type { SandboxEvent } from '../protocol/messages.js';
import { parseJson } from '../texts/parse-json.js';
import { inSpan } from '../tracing/trace-context.js';
import { type RefusalReason, verifyDelivery } from '../webhook/index.js';
import type { BridgeMetrics } from './bridge-metrics.js';
import type { BridgeLog, SecretSource } from './bridge-options.js';
import type { OpenListeners } from './open-listeners.js';
import type { RefusedDeliveries } from './refused-deliveries.js';
import { addressesOf, signalEvent } from './signal-event.js';

type DeliveryResult =
  | RefusalReason
  | 'accepted'
  | 'unknown_type'
  | 'malformed_body'
  | 'id_mismatch'
  | 'no_secret'
  | 'unavailable';

/** The HTTP status of each result. The sender repeats a delivery unless the status is 2xx. */
export const deliveryStatuses: Readonly<Record<DeliveryResult, number>> = {
  accepted: 200,
  unknown_type: 200,
  malformed_body: 400,
  id_mismatch: 400,
  missing_headers: 401,
  malformed_headers: 401,
  bad_signature: 401,
  stale_timestamp: 401,
  no_secret: 503,
  unavailable: 503,
};

export interface Receiver {
  readonly client: Client;
  readonly secrets: SecretSource;
  readonly listeners: OpenListeners;
  readonly signalTimeoutMs: number;
  readonly metrics: BridgeMetrics;
  readonly log: BridgeLog;
  readonly refusals: RefusedDeliveries;
}

export async function receiveDelivery(
  receiver: Receiver,
  headers: IncomingHttpHeaders,
  rawBody: Buffer,
): Promise<DeliveryResult> {
  const { metrics, log, refusals } = receiver;
  const secrets = await secretsNow(receiver);
  if (secrets.length === 0) return 'no_secret';
  const nowMs = Date.now();
  const verified = verifyDelivery({ headers, rawBody, secrets, nowMs });
  if (!verified.ok) {
    const { reason, skewSeconds } = verified;
    // Whoever looks whether a bridge answers here sends no signature, doctor among them.
    if (reason !== 'missing_headers') refusals.refused(reason, { skewSeconds });
    return reason;
  }
  metrics.clockSkew(nowMs / 1000 - verified.timestamp);

  const event = parseSandboxWebhookEvent(parseJson(rawBody.toString('utf8')));
  if (event === undefined) return 'malformed_body';
  if (event === 'unknown_type') return 'unknown_type';
  // The signature covers both ids, so a difference is a mistake of the sender. It is unknown which id is right.
  if (event.id !== verified.deliveryId) return 'id_mismatch';
  // A test delivery has an unknown type: it shows the secret of its sender, not that of the service.
  refusals.accepted(verified.headerPrefix, event.sandboxId);
  if (event.legacy) metrics.legacy();

  const { signalTimeoutMs: timeoutMs, client, listeners } = receiver;
  listeners.noteDelivery();
  const { mayBeOpen } = listeners;
  const attributes = { 'sandflow.event': event.type, 'sandflow.sandbox': event.sandboxId };
  const outcomes = await inSpan({ name: 'webhook delivery', headers, attributes }, () =>
    signalEvent(client, addressesOf(event), signalOf(event), { timeoutMs, mayBeOpen }),
  );
  for (const { address, result, reason } of outcomes) {
    metrics.signal(address.kind, result);
    if (reason === undefined) continue;
    log('A signal was not accepted.', { result, reason, workflowId: address.workflowId, eventId: event.id });
  }
  return outcomes.some(({ result }) => result === 'unavailable') ? 'unavailable' : 'accepted';
}

async function secretsNow({ secrets, log }: Receiver): Promise<readonly string[]> {
  try {
    return await secrets();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log('The webhook secrets cannot be read; deliveries are refused until they can.', { error: reason });
    return [];
  }
}

function signalOf(event: SandboxWebhookEvent): SandboxEvent {
  const { id, type, createdAt, sandboxId, sandboxName, previousState, state } = event;
  return { id, type, createdAt, sandboxId, sandboxName, previousState, state };
}
