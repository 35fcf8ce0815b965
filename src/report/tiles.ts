/** Computes the most important numbers of the report. */
import type { FanoutProgress } from '../../workflows/fanout/progress.js';
import { countOf, countText, durationText } from './format.js';
import type { PageItem } from './page-data.js';
import type { Tile } from './sections/outcomes.js';
import { quantile } from './stats.js';
import { durationsOf } from './summary.js';

export function tilesOf({ counts, budget }: FanoutProgress, items: readonly PageItem[], spanMs: number): Tile[] {
  const durations = durationsOf(items);
  const [median, p90] = [quantile(durations, 0.5), quantile(durations, 0.9)];
  const open = counts.queued + counts.running;
  const perHour = (counts.completed / spanMs) * 3_600_000;
  return [
    {
      name: 'Completed',
      value: countText(counts.completed),
      note: `of ${countOf(counts.items, 'item', 'items')}${open > 0 ? `, ${countText(open)} still open` : ''}`,
    },
    {
      name: 'Not completed',
      value: countText(counts.failed),
      note: counts.failed === 0 ? 'no failures' : 'see the outcomes below',
    },
    {
      name: 'Median item',
      value: median === null ? '–' : durationText(median),
      note: p90 === null ? 'no item was forked' : `p90 ${durationText(p90)}`,
    },
    {
      name: 'Pace',
      value: `${perHour < 10 ? perHour.toFixed(1) : countText(perHour)} / h`,
      note: `completed, over ${durationText(spanMs)}`,
    },
    {
      name: 'Machine time',
      value: durationText(budget.spentSeconds * 1_000),
      note: budget.limitSeconds === null ? 'no budget was set' : `of ${durationText(budget.limitSeconds * 1_000)}`,
    },
  ];
}
