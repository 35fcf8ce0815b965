/** What follows on the end of an item, now or in an earlier execution. Pure. */

import type { KnownItem, Resumption } from '../protocol.js';
import type { FanoutPolicy, ItemOutcome } from '../types.js';

export interface EndedItem {
  readonly outcome: ItemOutcome;
  /** Code of its error, or null. */
  readonly errorCode: string | null;
}

/** A new fork may do what this one could not. `rejected` is final: the service refuses the next one as well. */
const retriable: ReadonlySet<ItemOutcome> = new Set([
  'prompt_failed',
  'sandbox_failed',
  'sandbox_cancelled',
  'deadline_exceeded',
  'outcome_unknown',
]);
/** Refusals that are not for good, although the item has given up on them. */
const retriableCodes: ReadonlySet<string> = new Set(['fork_failed', 'activity_timeout', 'activity_failed']);
/** Refusals of the fork itself that every other item would meet as well. */
const sourceCodes: ReadonlySet<string> = new Set([
  'snapshot_data_expired',
  'sandbox_not_found',
  'not_found',
  'api_key_action_forbidden',
  'api_key_sandbox_forbidden',
]);

/** True where the item is worth a new generation. */
export function isRetriable({ outcome, errorCode }: EndedItem): boolean {
  if (outcome === 'rejected') return errorCode !== null && retriableCodes.has(errorCode);
  return retriable.has(outcome);
}

/**
 * Whether an item that has just ended is tried again.
 * @param retried how often it was
 */
export function isTriedAgain(ended: EndedItem, retried: number, { retries }: Pick<FanoutPolicy, 'retries'>): boolean {
  return retried < retries && isRetriable(ended);
}

/** True for an item that failed by itself, as opposed to one that was cut short or never started. */
export function isFailure(outcome: ItemOutcome): boolean {
  return outcome !== 'completed' && outcome !== 'cancelled' && outcome !== 'not_started';
}

/** True where no item can be forked any more. */
export function isSourceLost({ errorCode }: EndedItem, sandboxId: string | null): boolean {
  return sandboxId === null && errorCode !== null && sourceCodes.has(errorCode);
}

/**
 * Nothing that is done is repeated. An item of which nothing is known runs under its first keys, which cannot make a
 * second fork; one that was cut short goes on as its next generation.
 * @param known null where none of its generations has left a result
 */
export function resumptionOf(
  known: KnownItem | null,
  options: { readonly retryFailed: boolean; readonly retries: number },
): Resumption {
  if (known === null) return { kind: 'run', generation: 1, lookFirst: true, retried: 0 };
  const next = { kind: 'run', generation: known.generation + 1, lookFirst: true } as const;
  if (known.outcome === 'completed') return { kind: 'done' };
  if (!isFailure(known.outcome)) return { ...next, retried: 0 };
  if (options.retryFailed) return { ...next, retried: 0 };
  const retried = known.generation - 1;
  return isTriedAgain(known, retried, options) ? { ...next, retried: retried + 1 } : { kind: 'done' };
}
