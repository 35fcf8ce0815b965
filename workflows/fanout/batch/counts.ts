/** Adds up the reports of the chunks of a batch. Pure. */

import { isFailure } from '../chunk/retry-policy.js';
import type { ChunkRecord, ChunkReport } from '../protocol.js';
import type { FanoutCounts, ItemOutcome } from '../types.js';

type ByOutcome = Partial<Record<ItemOutcome, number>>;
type Counted = Pick<ChunkRecord, 'items'> & {
  readonly report: Pick<ChunkReport, 'running' | 'byOutcome' | 'retried' | 'hasEnded'> | null;
};

/**
 * Counts the items of the batch: `queued`, `running` and the outcomes add up to `items`.
 * @param isOver true once the batch has ended: the remaining items were never started
 */
export function countsOf(chunks: readonly Counted[], isOver: boolean): FanoutCounts {
  const byOutcome: ByOutcome = {};
  let items = 0;
  let running = 0;
  let ended = 0;
  let retried = 0;
  for (const chunk of chunks) {
    items += chunk.items;
    if (!chunk.report) continue;
    running += chunk.report.running;
    retried += chunk.report.retried;
    for (const [outcome, count] of Object.entries(chunk.report.byOutcome) as [ItemOutcome, number][]) {
      byOutcome[outcome] = (byOutcome[outcome] ?? 0) + count;
      ended += count;
    }
  }
  let queued = items - running - ended;
  if (isOver && queued > 0) {
    byOutcome.not_started = (byOutcome.not_started ?? 0) + queued;
    queued = 0;
  }
  const failed = (Object.entries(byOutcome) as [ItemOutcome, number][])
    .filter(([outcome]) => isFailure(outcome))
    .reduce((sum, [, count]) => sum + count, 0);
  return { items, queued, running, completed: byOutcome.completed ?? 0, failed, retried, byOutcome };
}

/** Number of items of the chunk that have not ended. */
export function unfinished({ items, report }: Counted): number {
  const ended = Object.values(report?.byOutcome ?? {}).reduce((sum, count) => sum + count, 0);
  return items - ended;
}
