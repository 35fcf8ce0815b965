/** Which failures of items are the same, and how many followed one another. Pure. */
import { errorCodes, errorMeaning } from '../../src/contract/workflow-safe/error-codes.js';
import type { FailureStreak } from '../../src/protocol/fanout/batch-parts.js';
import type { ItemSummary } from '../../src/protocol/fanout/fanout-result.js';
import { isFailure } from './chunk/retry-policy.js';

type Failure = Omit<FailureStreak, 'count'>;

/** Longest code of a streak. A batch carries one for itself, and the service may invent codes. */
const codeLength = 100;

/** Failures of what was to be done first, which is the same for every item of its kind. */
const ownPermanentCodes: ReadonlySet<string> = new Set([
  'setup_failed',
  'command_failed',
  'check_not_started',
  'after_failed',
]);

/** @returns null for an item that completed or was cut short */
export function failureOf({ outcome, error }: Pick<ItemSummary, 'outcome' | 'error'>): Failure | null {
  if (!isFailure(outcome)) return null;
  const code = error?.code.slice(0, codeLength) ?? null;
  return { outcome, code, isPermanent: error !== null && isPermanent(outcome, error) };
}

/** True if another attempt would meet the failure too. Never by the text of the error. */
function isPermanent(
  outcome: ItemSummary['outcome'],
  { code, status }: Pick<NonNullable<ItemSummary['error']>, 'code' | 'status'>,
): boolean {
  if (ownPermanentCodes.has(code)) return true;
  // Of a result that was read again, only the code is known.
  const known =
    status ?? (Object.hasOwn(errorCodes, code) ? errorCodes[code as keyof typeof errorCodes].statuses[0] : null);
  return outcome === 'rejected' && known !== null && errorMeaning(known, code) === 'permanent';
}

/** @param failure of the item that ended next; null if it did not fail */
export function longerStreak(streak: FailureStreak | null, failure: Failure | null): FailureStreak | null {
  if (failure === null) return null;
  return { ...failure, count: streak && isSame(streak, failure) ? streak.count + 1 : 1 };
}

/**
 * @param news of one chunk: how many of its items have ended since its last report, and how its newest endings failed
 */
export function streakAfter(
  streak: FailureStreak | null,
  news: { readonly ended: number; readonly streak: FailureStreak | null },
): FailureStreak | null {
  if (news.ended <= 0) return streak;
  if (news.streak === null) return null;
  const count = Math.min(news.streak.count, news.ended);
  const goesOn = count === news.ended && streak !== null && isSame(streak, news.streak);
  return { ...news.streak, count: goesOn ? streak.count + count : count };
}

function isSame(a: Failure, b: Failure): boolean {
  return a.outcome === b.outcome && a.code === b.code && a.isPermanent === b.isPermanent;
}
