/** The sections for durations and cost. */
import type { FanoutProgress } from '../../../protocol/fanout/fanout-progress.js';
import { budgetText, dollarsText, durationText, machineText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import type { PageItem } from '../../page-data.js';
import { quantile, sum } from '../../stats.js';
import { durationsOf, phaseRows } from '../summary.js';

/** @returns null if no item was forked */
export function durationsSection(items: readonly PageItem[]): Markup | null {
  const durations = durationsOf(items);
  const [median, p90] = [quantile(durations, 0.5), quantile(durations, 0.9)];
  if (median === null || p90 === null) return null;
  const rows = phaseRows(items).map(
    ({ kind, medianMs, p90Ms, longestMs }) =>
      html`<tr><th scope="row"><span class="swatch fill-${kind}" aria-hidden="true"></span>${kind}</th><td class="number">${durationText(medianMs)}</td><td class="number">${durationText(p90Ms)}</td><td class="number wide">${durationText(longestMs)}</td></tr>`,
  );
  return html`<section class="card" aria-labelledby="durations-title"><h2 id="durations-title">Durations</h2>
<table class="plain"><thead><tr><th scope="col">Phase</th><th scope="col" class="number">Median</th><th scope="col" class="number">p90</th><th scope="col" class="number wide">Longest</th></tr></thead>
<tbody>${rows}<tr class="total"><th scope="row">fork to end</th><td class="number">${durationText(median)}</td><td class="number">${durationText(p90)}</td><td class="number wide">${durationText(quantile(durations, 1) ?? 0)}</td></tr></tbody></table></section>`;
}

/** @returns null if no machine ran */
export function costSection(
  items: readonly PageItem[],
  budget: FanoutProgress['budget'],
  dollarsPerSecond: number | null,
): Markup | null {
  const seconds = items.map(({ machineSeconds }) => machineSeconds);
  const spent = Math.max(budget.spentSeconds, sum(seconds));
  if (spent === 0 && budget.reservedSeconds === 0) return null;
  const forked = seconds.filter((value) => value > 0);
  const completed = items.filter(({ outcome }) => outcome === 'completed').length;
  const [now, before] = [false, true].map((earlier) =>
    sum(items.filter((item) => item.earlier === earlier).map(({ machineSeconds }) => machineSeconds)),
  );
  const retried = spent - sum(seconds);
  const isResumed = items.some(({ earlier }) => earlier);
  const rows: readonly (readonly [string, number | null])[] = [
    ...(isResumed
      ? ([
          ['Items of this run', now ?? 0],
          ['Items of earlier runs', before ?? 0],
        ] as const)
      : []),
    ...(retried >= 0.5 && (isResumed || sum(seconds) > 0) ? [['Attempts that were replaced', retried] as const] : []),
    [isResumed ? 'All runs together' : 'All forks', spent],
    ['Per fork, average', forked.length > 0 ? sum(forked) / forked.length : null],
    ['Per completed item', completed > 0 ? spent / completed : null],
    ...(budget.reservedSeconds > 0 ? [['Reserved for running items', budget.reservedSeconds] as const] : []),
    ...(budget.limitSeconds === null ? [] : [['Budget', budget.limitSeconds] as const]),
  ];
  const price = (value: number): Markup | null =>
    dollarsPerSecond === null ? null : html`<td class="number">${dollarsText(value * dollarsPerSecond)}</td>`;
  const none = dollarsPerSecond === null ? null : html`<td class="number">–</td>`;
  const dollars = dollarsPerSecond === null ? null : html`<th scope="col" class="number">List price</th>`;
  return html`<section class="card" id="cost" aria-labelledby="cost-title"><h2 id="cost-title">Cost</h2>
<p class="note">Machine time counts the multiplier of the machine size.${dollarsPerSecond === null ? null : ' The list price is that of the service for this month.'}${budget.limitSeconds === null ? ' No budget was set.' : null}</p>
<table class="plain"><thead><tr><th scope="col"><span class="hidden-text">Of what</span></th><th scope="col" class="number">Machine time</th>${dollars}</tr></thead>
<tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td class="number">${value === null ? '–' : name === 'Budget' ? budgetText(value) : machineText(value)}</td>${value === null ? none : price(value)}</tr>`)}</tbody></table></section>`;
}
