/**
 * Reads the deliveries of a webhook (specification, "Events"), in both vocabularies. A delivery in the legacy
 * vocabulary (`box.*`, trap S15) is translated to the current one and marked as `legacy`.
 */
import { z } from 'zod';
import { ownHeaderPrefix } from '../request-form.js';
import { type SandboxEvent, sandboxEventTypes } from '../workflow-safe/states.js';
import { shortText } from './short-text.js';

/** Request headers of a delivery, in lower case as Node presents them. */
export const deliveryHeaders = deliveryHeadersOf(ownHeaderPrefix);

/** The headers of a delivery whose names begin with `prefix`. */
export function deliveryHeadersOf<Prefix extends string>(prefix: Prefix) {
  return {
    event: `${prefix}event`,
    delivery: `${prefix}delivery`,
    timestamp: `${prefix}timestamp`,
    signature: `${prefix}signature`,
    attempt: `${prefix}attempt`,
  } as const;
}

/** Receivers reject a timestamp that differs from the current time by more than this (specification, "Limits"). */
export const timestampToleranceSeconds = 300;

/** A lifecycle event in the current vocabulary. */
export interface SandboxWebhookEvent extends SandboxEvent {
  /** True if the delivery was in the `box.*` vocabulary. */
  readonly legacy: boolean;
}

/**
 * A longer name belongs to no workflow. It is cut, so that the event still reaches workflows that wait by the sandbox's
 * id.
 */
const longestName = 1_000;
const subject = z.looseObject({ id: shortText(), name: z.string().transform((name) => name.slice(0, longestName)) });
const payloadSchema = z.looseObject({
  id: shortText().min(1),
  type: z.string(),
  createdAt: shortText(),
  data: z.looseObject({
    sandbox: subject.optional(),
    box: subject.optional(),
    previousState: shortText().nullish(),
    state: shortText().nullish(),
  }),
});

/**
 * Reads the parsed body of a delivery.
 * @returns the event; `'unknown_type'` for a well-formed event of an unlisted type; `undefined` if the body is
 *   malformed
 */
export function parseSandboxWebhookEvent(body: unknown): SandboxWebhookEvent | 'unknown_type' | undefined {
  const parsed = payloadSchema.safeParse(body);
  if (!parsed.success) return undefined;
  const { id, type, createdAt, data } = parsed.data;
  const legacy = type.startsWith('box.');
  const currentType = legacy ? `sandbox.${type.slice('box.'.length)}` : type;
  const known = sandboxEventTypes.find((candidate) => candidate === currentType);
  if (!known) return 'unknown_type';
  const of = data.sandbox ?? data.box;
  if (!of) return undefined;
  const previousState = data.previousState ?? undefined;
  const state = data.state ?? undefined;
  return { id, type: known, createdAt, sandboxId: of.id, sandboxName: of.name, previousState, state, legacy };
}
