/** The sections for durations and cost. */
import type { FanoutProgress } from '../../../workflows/fanout/progress.js';
import { histogramChart, shareBar } from '../charts.js';
import { durationText, machineText } from '../format.js';
import { html, type Markup } from '../markup.js';
import type { PageItem } from '../page-data.js';
import { histogram, quantile, sum } from '../stats.js';
import { durationsOf, phaseRows } from '../summary.js';

export function durationsSection(items: readonly PageItem[]): Markup {
  const durations = durationsOf(items);
  const [median, p90] = [quantile(durations, 0.5), quantile(durations, 0.9)];
  if (median === null || p90 === null) {
    return html`<section class="card"><h2>Durations</h2><p class="note">No item was forked.</p></section>`;
  }
  const rows = phaseRows(items).map(
    ({ kind, medianMs, p90Ms, longestMs }) =>
      html`<tr><th scope="row"><span class="swatch fill-${kind}" aria-hidden="true"></span>${kind}</th><td class="number">${durationText(medianMs)}</td><td class="number">${durationText(p90Ms)}</td><td class="number wide">${durationText(longestMs)}</td></tr>`,
  );
  return html`<section class="card" aria-labelledby="durations-title"><h2 id="durations-title">Durations</h2>
${histogramChart(histogram(durations), [
  { word: 'median', at: median },
  { word: 'p90', at: p90 },
])}
<table class="plain"><thead><tr><th scope="col">Phase</th><th scope="col" class="number">Median</th><th scope="col" class="number">p90</th><th scope="col" class="number wide">Longest</th></tr></thead>
<tbody>${rows}<tr class="total"><th scope="row">fork to end</th><td class="number">${durationText(median)}</td><td class="number">${durationText(p90)}</td><td class="number wide">${durationText(quantile(durations, 1) ?? 0)}</td></tr></tbody></table></section>`;
}

export function costSection(items: readonly PageItem[], budget: FanoutProgress['budget']): Markup {
  const seconds = items.map(({ machineSeconds }) => machineSeconds);
  const spent = Math.max(budget.spentSeconds, sum(seconds));
  const forked = seconds.filter((value) => value > 0);
  const completed = items.filter(({ outcome }) => outcome === 'completed').length;
  const rows: readonly (readonly [string, string])[] = [
    ['All forks', machineText(spent)],
    ['Per fork, average', forked.length > 0 ? machineText(sum(forked) / forked.length) : '–'],
    ['Per fork, median', forked.length > 0 ? machineText(quantile(forked, 0.5) ?? 0) : '–'],
    ['Per completed item', completed > 0 ? machineText(spent / completed) : '–'],
    ...(budget.reservedSeconds > 0
      ? [['Reserved for running items', machineText(budget.reservedSeconds)] as const]
      : []),
    ['Budget', budget.limitSeconds === null ? 'no limit' : machineText(budget.limitSeconds)],
  ];
  return html`<section class="card" aria-labelledby="cost-title"><h2 id="cost-title">Cost</h2>
<p class="note">Machine-seconds, including the multiplier of the machine size.</p>
${budget.limitSeconds === null ? null : budgetBar(spent, budget.reservedSeconds, budget.limitSeconds)}
<dl class="rows">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd class="number">${value}</dd></div>`)}</dl></section>`;
}

function budgetBar(spent: number, reserved: number, limit: number): Markup {
  const share = Math.round((spent / Math.max(limit, 1)) * 100);
  const bar = shareBar(
    [
      { tone: 'prompting', share: spent / Math.max(limit, 1) },
      { tone: 'queued', share: reserved / Math.max(limit, 1) },
    ],
    `${share} % of the budget spent`,
  );
  return html`${bar}<p class="note">${share} % of the budget spent.</p>`;
}
