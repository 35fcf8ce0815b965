/** Decides when a batch is held, and says why it is. Pure. */
import type { FailureStreak } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutPolicy } from '../../../src/protocol/fanout/fanout-input.js';
import type { BatchHold, FanoutCounts } from '../../../src/protocol/fanout/fanout-progress.js';

/**
 * What the endings so far mean, for a batch that is not held. `proven`: the canaries have ended, and have not failed
 * alike.
 */
export function holdDue(
  state: {
    readonly streak: FailureStreak | null;
    readonly counts: Pick<FanoutCounts, 'items' | 'queued' | 'running'>;
    readonly isSealed: boolean;
    readonly isProven: boolean;
  },
  { canary = 0, breaker = 0 }: Pick<FanoutPolicy, 'canary' | 'breaker'>,
): BatchHold['by'] | 'proven' | null {
  const { streak, counts, isSealed, isProven } = state;
  const count = streak?.count ?? 0;
  const isMore = !isSealed || counts.queued > 0;
  if (isMore && breaker > 0 && streak?.isPermanent && count >= breaker) return 'breaker';
  if (!isMore || canary === 0 || isProven) return null;
  const canaries = isSealed ? Math.min(canary, counts.items) : canary;
  if (counts.items - counts.queued - counts.running < canaries) return null;
  return count >= canaries ? 'canary' : 'proven';
}

export function heldText(batchId: string, { by, outcome, code, count }: BatchHold): string {
  const failure = code === null || code === outcome ? outcome : `${outcome}, ${code}`;
  const which = by === 'canary' ? `All ${count} canaries` : `${count} items in a row`;
  const what = count === 1 ? `The ${by === 'canary' ? 'canary' : 'newest item'} failed` : `${which} failed alike`;
  const next = `Mend the cause and run \`sandflow fanout resume ${batchId}\`, or cancel the batch`;
  return `${what} (${failure}), so no further item starts. ${next}.`;
}
