/** Decides when a batch is held, and says why it is. Pure. */
import type { ChunkPlace, ChunkRecord, ChunkReport, FailureStreak } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutPolicy } from '../../../src/protocol/fanout/fanout-input.js';
import type { BatchHold, FanoutCounts } from '../../../src/protocol/fanout/fanout-progress.js';
import { streakAfter } from '../failure-streak.js';
import { knowsLosses } from '../markers.js';
import { endedIn, failedIn, sumOf } from './counts.js';

/**
 * What the endings so far mean, for a batch that is not held. `proven`: the canaries have ended, and have not failed
 * alike.
 */
export function holdDue(
  state: {
    readonly streak: FailureStreak | null;
    readonly counts: Pick<FanoutCounts, 'items' | 'queued'>;
    readonly endedCanaries: number;
    /** Those among them that did not run. Default: 0. */
    readonly unrunCanaries?: number;
    readonly isSealed: boolean;
    readonly isProven: boolean;
  },
  { canary = 0, breaker = 0 }: Pick<FanoutPolicy, 'canary' | 'breaker'>,
): BatchHold['by'] | 'proven' | null {
  const { streak, counts, endedCanaries, unrunCanaries = 0, isSealed, isProven } = state;
  const count = streak?.count ?? 0;
  const isMore = !isSealed || counts.queued > 0;
  if (isMore && breaker > 0 && streak?.isPermanent && count >= breaker) return 'breaker';
  if (!isMore || canary === 0 || isProven) return null;
  const canaries = isSealed ? Math.min(canary, counts.items) : canary;
  if (endedCanaries < canaries) return null;
  return count >= canaries - unrunCanaries ? 'canary' : 'proven';
}

type Canaries = Pick<ChunkPlace, 'firstIndex' | 'items'>;
const canariesIn = ({ firstIndex, items }: Canaries, canary: number) =>
  Math.max(0, Math.min(items, canary - firstIndex));

/** Those of a chunk that has ended will not run any more, so all of them have ended. */
export function endedCanariesOf(
  places: readonly ChunkPlace[],
  records: readonly Pick<ChunkRecord, 'firstIndex' | 'items' | 'state' | 'report'>[],
  canary = 0,
): number {
  const own = (place: Canaries) => canariesIn(place, canary);
  const open = records.filter(({ state }) => state !== 'ended');
  return sumOf(places, own) - sumOf(open, (record) => Math.max(0, own(record) - endedIn(record.report)));
}

/** The canaries of chunks whose sources have failed, without those that ended by themselves: they prove nothing. */
export function unrunCanariesOf(
  records: readonly Pick<ChunkRecord, 'firstIndex' | 'items' | 'report'>[],
  canary = 0,
): number {
  return sumOf(records, (one) => Math.max(0, canariesIn(one, canary) - (endedIn(one.report) - silentIn(one.report))));
}

type Ended = Pick<ChunkReport, 'byOutcome' | 'lost'>;
type Endings = Ended & Pick<ChunkReport, 'streak'>;

/** Number of endings that tell nothing of an item: it was cut short, or its source was lost. */
function silentIn(report: Ended | null): number {
  const { byOutcome: { cancelled = 0, not_started = 0 } = {}, lost = 0 } = report ?? {};
  return cancelled + not_started + lost;
}

/**
 * The newest endings of a batch after a report of one of its chunks.
 * @param options.before the report before; null if there was none
 * @param options.isFirst true if it is the first of a chunk that ran before this execution, whose endings count no more
 */
export function streakAfterReport(
  streak: FailureStreak | null,
  report: Endings,
  { before, isFirst }: { readonly before: Ended | null; readonly isFirst: boolean },
): FailureStreak | null {
  if (streak === null && !report.streak) return null;
  // A chunk of an earlier execution may tell no streak.
  const failed = (one: Ended | null) => failedIn(one) - (one?.lost && knowsLosses() ? one.lost : 0);
  const isTold = report.streak !== undefined || failed(report) === failed(before);
  if (isFirst || !isTold) return streak;
  const silent = silentIn(report) - silentIn(before);
  const ended = endedIn(report) - endedIn(before) - (silent > 0 && knowsLosses() ? silent : 0);
  return streakAfter(streak, { ended, streak: report.streak ?? null });
}

export function heldText(batchId: string, { by, outcome, code, count }: BatchHold): string {
  const failure = code === null || code === outcome ? outcome : `${outcome}, ${code}`;
  const which = by === 'canary' ? `All ${count} canaries` : `${count} items in a row`;
  const what = count === 1 ? `The ${by === 'canary' ? 'canary' : 'newest item'} failed` : `${which} failed alike`;
  const next = `Mend the cause and run \`sandflow fanout resume ${batchId}\`, or cancel the batch`;
  return `${what} (${failure}), so no further item starts. ${next}.`;
}
