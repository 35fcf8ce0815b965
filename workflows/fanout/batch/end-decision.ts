/** Decides when a batch ends, and with which outcome. Pure. */

import type { EndReason } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutOutcome, FanoutPolicy } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutCounts } from '../../../src/protocol/fanout/fanout-progress.js';

/** Why the batch must end now, judging by its items; undefined if it continues. */
export function endReasonOf(counts: FanoutCounts, { stopAt }: Pick<FanoutPolicy, 'stopAt'>): EndReason | undefined {
  const isLeft = counts.queued + counts.running > 0;
  if (stopAt.kind === 'successes' && counts.completed >= stopAt.count && isLeft) return 'enough';
  if (stopAt.kind === 'fail_fast' && counts.failed > 0 && isLeft) return 'failed_fast';
  return undefined;
}

/**
 * @param reason why the batch ended before all items had their turn, or null
 * @param counts the counts once no item runs
 * @param isSealed false if the batch ended before it had all its items
 */
export function outcomeOf(
  reason: EndReason | null,
  counts: FanoutCounts,
  { stopAt }: Pick<FanoutPolicy, 'stopAt'>,
  isSealed: boolean,
): FanoutOutcome {
  if (stopAt.kind === 'successes' && counts.completed >= stopAt.count) return 'completed';
  if (isSealed && counts.completed === counts.items && reason !== 'source_failed') return 'completed';
  if (stopAt.kind === 'fail_fast' && counts.failed > 0 && (reason === null || reason === 'enough'))
    return 'failed_fast';
  return reason === null || reason === 'enough' ? 'partly_failed' : reason;
}
