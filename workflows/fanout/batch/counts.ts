/** Adds up what the chunks of a batch have reported. Pure. */

import { isFailure } from '../chunk/retry-policy.js';
import type { ChunkRecord, ChunkReport } from '../protocol.js';
import type { FanoutCounts, ItemOutcome } from '../types.js';

type ByOutcome = Partial<Record<ItemOutcome, number>>;
type Counted = Pick<ChunkRecord, 'items'> & {
  readonly report: Pick<ChunkReport, 'running' | 'byOutcome' | 'retried' | 'hasEnded'> | null;
};

/**
 * `queued`, `running` and the outcomes together are `items`.
 * @param isOver true once the batch has ended: what is left was never started
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

/** Items of the chunk that have not ended. */
export function unfinished({ items, report }: Counted): number {
  const ended = Object.values(report?.byOutcome ?? {}).reduce((sum, count) => sum + count, 0);
  return items - ended;
}
