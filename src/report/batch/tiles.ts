/** Computes the most important numbers of the report. */
import type { FanoutProgress } from '../../protocol/fanout/fanout-progress.js';
import { budgetText, countOf, countText, dollarsText, durationText } from '../format.js';
import type { PageItem } from '../page-data.js';
import { quantile } from '../stats.js';
import type { Tile } from './sections/outcomes.js';
import { durationsOf } from './summary.js';

/** @param spanMs length of the newest run */
export function tilesOf(
  { counts, budget }: FanoutProgress,
  items: readonly PageItem[],
  { spanMs, dollarsPerSecond }: { readonly spanMs: number; readonly dollarsPerSecond: number | null },
): Tile[] {
  const durations = durationsOf(items);
  const [median, p90] = [quantile(durations, 0.5), quantile(durations, 0.9)];
  const open = counts.queued + counts.running;
  const earlier = items.filter((item) => item.earlier && item.outcome === 'completed').length;
  const isResumed = items.some((item) => item.earlier);
  const perHour = (Math.max(0, counts.completed - earlier) / spanMs) * 3_600_000;
  const machineTime = durationText(budget.spentSeconds * 1_000);
  const limit = budget.limitSeconds === null ? 'no budget was set' : `of ${budgetText(budget.limitSeconds)}`;
  const inAllRuns = isResumed ? ', all runs' : '';
  const completed: Tile = {
    name: 'Completed',
    value: countText(counts.completed),
    note: [
      `of ${countOf(counts.items, 'item', 'items')}`,
      ...(open > 0 ? [`${countText(open)} still open`] : []),
      ...(earlier > 0 ? [`${countText(earlier)} in earlier runs`] : []),
    ].join(', '),
  };
  if (items.length === 0 && budget.spentSeconds === 0) return counts.items === 0 ? [] : [completed];
  return [
    completed,
    {
      name: 'Failed',
      value: countText(counts.failed),
      note: counts.failed === 0 ? 'no failures' : 'see the failures below',
    },
    ...(median === null || p90 === null
      ? []
      : [{ name: 'Median item', value: durationText(median), note: `p90 ${durationText(p90)}${inAllRuns}` }]),
    ...(perHour > 0
      ? [
          {
            name: isResumed ? 'Pace of this run' : 'Pace',
            value: `${perHour < 10 ? perHour.toFixed(1) : countText(perHour)} / h`,
            note: `completed, over ${durationText(spanMs)}`,
          },
        ]
      : []),
    dollarsPerSecond === null
      ? { name: 'Machine time', value: machineTime, note: `${limit}${inAllRuns}` }
      : {
          name: 'Cost',
          value: dollarsText(budget.spentSeconds * dollarsPerSecond),
          note: `list price of ${machineTime}${inAllRuns}`,
        },
  ];
}
