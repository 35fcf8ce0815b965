/** What a delivery says, in the vocabulary of its webhook (specification, "Versioning"). */
import { otherName, otherVocabulary } from '../../contract/legacy-vocabulary.js';

export interface Spelled {
  /** The event header. */
  readonly event: string;
  /** The exact bytes that are signed and sent. */
  readonly body: string;
}

/**
 * A webhook of before the rename keeps getting `box.*` with `data.box`. Made anew for each attempt from what is stored; the
 * same bytes each time, so that a repeated delivery is the same delivery.
 */
export function spelledFor(webhook: { readonly legacy: boolean }, stored: { type: string; body: string }): Spelled {
  if (!webhook.legacy) return { event: stored.type, body: stored.body };
  const { data, ...envelope } = JSON.parse(stored.body) as { readonly data: unknown };
  const body = JSON.stringify({ ...(otherVocabulary(envelope) as object), data: otherVocabulary(data) });
  return { event: otherName(stored.type), body };
}
