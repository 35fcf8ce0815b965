/** Decides what to do after the end of an item, whether it ended in this execution or in an earlier one. Pure. */

import { isExcused } from '../../../src/protocol/failure-class.js';
import type { KnownItem, NextRun, Resumption } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutPolicy, ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { turnOf } from '../../../src/protocol/fanout/next-turn.js';
import { freeRetries } from '../../../src/protocol/limits.js';
import type { ResultErrorCode } from '../../../src/protocol/result-error-codes.js';
import { sourceChangedCode } from '../../shared/job-termination.js';

export interface EndedItem extends Pick<ItemSummary, 'failureClass' | 'wasPrompted'> {
  readonly outcome: ItemOutcome;
  /** Code of its error, or null. */
  readonly errorCode: string | null;
}

/**
 * Outcomes after which a new fork may succeed. `rejected` is not among them, because the service would refuse the next
 * fork too.
 */
const retriable: ReadonlySet<ItemOutcome> = new Set([
  'unverified',
  'prompt_failed',
  'sandbox_failed',
  'sandbox_cancelled',
  'deadline_exceeded',
  'outcome_unknown',
]);
/** Refusals that are temporary, although the item ended because of them. */
const retriableCodes: ReadonlySet<string> = new Set(['fork_failed', 'activity_timeout', 'activity_failed']);
/** Failures that every fork would have, although the outcome is retried. */
const permanentCodes: ReadonlySet<string> = new Set<ResultErrorCode>(['check_not_started', 'after_failed']);
/** Refusals of the fork itself that would affect every other item too. */
const sourceCodes: ReadonlySet<string> = new Set([
  'snapshot_data_expired',
  'sandbox_not_found',
  'not_found',
  'api_key_action_forbidden',
  'api_key_sandbox_forbidden',
]);

/** True if a new generation of the item may succeed. */
export function isRetriable({ outcome, errorCode }: EndedItem): boolean {
  if (outcome === 'rejected') return errorCode !== null && retriableCodes.has(errorCode);
  return retriable.has(outcome) && !(errorCode !== null && permanentCodes.has(errorCode));
}

/**
 * True if an item that has just ended is retried.
 * @param retried number of retries so far
 */
export function isTriedAgain(ended: EndedItem, retried: number, { retries }: Pick<FanoutPolicy, 'retries'>): boolean {
  return retried < retries && isRetriable(ended);
}

/**
 * True if an item that has just ended is tried again without counting it as one of its `retries`. Without `retries`,
 * nobody has asked for a second prompt: then only as long as no prompt was sent.
 * @param excused number of such retries so far
 */
export function isFreelyTriedAgain(ended: EndedItem, excused: number, { retries }: Pick<FanoutPolicy, 'retries'>) {
  const mayPrompt = retries > 0 || ended.wasPrompted === false;
  return excused < freeRetries && mayPrompt && isExcused(ended) && isRetriable(ended);
}

/** How many retries of an item counted, and how many did not. @param after generations up to this one are over */
export function retriesOf({ generation, excused = [] }: Pick<KnownItem, 'generation' | 'excused'>, after = 0) {
  const free = excused.filter((one) => one > after && one < generation).length;
  return { retried: generation - after - 1 - Math.min(free, freeRetries), excused: Math.min(free, freeRetries) };
}

/** True for an item that failed by itself; false if it was cut short or never started. */
export function isFailure(outcome: ItemOutcome): boolean {
  return outcome !== 'completed' && outcome !== 'cancelled' && outcome !== 'not_started';
}

/** True if the source can no longer be forked, or is no longer in the state that all items must start from. */
export function isSourceLost({ errorCode }: EndedItem, sandboxId: string | null): boolean {
  if (errorCode === sourceChangedCode) return true;
  return sandboxId === null && errorCode !== null && sourceCodes.has(errorCode);
}

export interface ResumptionOptions {
  readonly retryFailed: boolean;
  readonly retries: number;
  /** Set if the item has changed. Default: null. */
  readonly next?: NextRun | null;
  /** True if only named items run. Default: false. */
  readonly only?: boolean;
}

/**
 * What remains to do for an item. Completed work is not repeated, unless the item has changed since. An item without a result repeats its first
 * generation, whose idempotency keys cannot create a second fork. An item that was cut short continues as its next
 * generation.
 * @param known null if none of its generations left a result
 */
export function resumptionOf(known: KnownItem | null, options: ResumptionOptions): Resumption {
  const { next: changed = null, only = false } = options;
  const turn = turnOf(known, { next: changed, only });
  if (turn === 'alone') return { kind: 'done' };
  if (known === null) return { kind: 'run', generation: 1, lookFirst: true, retried: 0 };
  const next = { kind: 'run', generation: known.generation + 1, lookFirst: true } as const;
  if (turn === 'again') return { ...next, retried: 0 };
  if (known.outcome === 'completed') return { kind: 'done' };
  if (!isFailure(known.outcome)) return { ...next, retried: 0 };
  if (options.retryFailed) return { ...next, retried: 0 };
  const { retried, excused } = retriesOf(known, changed?.after);
  if (isFreelyTriedAgain(known, excused, options)) return { ...next, retried, excused: excused + 1 };
  return isTriedAgain(known, retried, options) ? { ...next, retried: retried + 1, excused } : { kind: 'done' };
}
