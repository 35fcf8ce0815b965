/** Tiles with the most important numbers, and the table of outcomes. */
import type { FanoutCounts } from '../../../protocol/fanout/fanout-progress.js';
import { countOf, countText, dollarsText, durationText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import { outcomeBadge, styleOf } from '../../outcome-styles.js';
import type { OutcomeRow } from '../summary.js';

export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

/** @returns null without tiles */
export function tilesSection(tiles: readonly Tile[]): Markup | null {
  if (tiles.length === 0) return null;
  return html`<ul class="tiles" aria-label="At a glance">${tiles.map(
    ({ name, value, note }) =>
      html`<li><span class="name">${name}</span><strong>${value}</strong><span class="note">${note}</span></li>`,
  )}</ul>`;
}

/** @returns null for a batch without items */
export function outcomesSection(
  rows: readonly OutcomeRow[],
  counts: FanoutCounts,
  dollarsPerSecond: number | null,
): Markup | null {
  if (counts.items === 0 && rows.length === 0) return null;
  const total = Math.max(counts.items, 1);
  const open = counts.queued + counts.running;
  const cost = (seconds: number): string => {
    if (!(seconds > 0)) return '–';
    return dollarsPerSecond === null ? durationText(seconds * 1_000) : dollarsText(seconds * dollarsPerSecond);
  };
  const body = rows.map((row) => {
    return html`<tr><th scope="row">${outcomeBadge(styleOf(row.outcome))}</th>
<td class="number">${countText(row.items)}</td><td class="number">${share(row.items, total)}</td>
<td class="number">${ms(row.medianMs)}</td><td class="number wide">${ms(row.longestMs)}</td><td class="number wide">${cost(row.machineSeconds)}</td></tr>`;
  });
  const still = html`<tr><th scope="row">${outcomeBadge({ word: 'queued or running', mark: '…', tone: 'calm' })}</th>
<td class="number">${countText(open)}</td><td class="number">${share(open, total)}</td><td></td><td class="wide"></td><td class="wide"></td></tr>`;
  return html`<section class="card" id="outcomes" aria-labelledby="outcomes-title"><h2 id="outcomes-title">Outcomes</h2>
<table class="plain"><thead><tr><th scope="col">Outcome</th><th scope="col" class="number">Items</th><th scope="col" class="number">Share</th><th scope="col" class="number">Median</th><th scope="col" class="number wide">Longest</th><th scope="col" class="number wide">${dollarsPerSecond === null ? 'Machine time' : 'Cost'}</th></tr></thead>
<tbody>${body}${open > 0 ? still : null}</tbody></table>
<p class="note">${counts.retried > 0 ? `${countOf(counts.retried, 'retry', 'retries')} in new forks.` : 'No item was retried.'}</p></section>`;
}

/** Shares below 10 % have one decimal place, so that one item in a thousand shows as `0.1 %`, not as `0 %`. */
function share(items: number, total: number): string {
  const percent = (items / total) * 100;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

function ms(value: number | null): string {
  return value === null ? '–' : durationText(value);
}
