/** The section with the running forks over time. */
import { countText, durationText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import { niceStep } from '../../stats.js';
import { type Activity, forkKinds } from '../activity.js';

/**
 * The chart is SVG. Positions are percentages in its attributes, because the page's security policy forbids style
 * attributes.
 * @param note which items the chart leaves out
 * @returns null if there were no forks
 */
export function timelineSection({ forks, peak }: Activity, spanMs: number, note: string): Markup | null {
  if (peak === 0) return null;
  const buckets = forks.prompting.length;
  const below = new Array<number>(buckets).fill(0);
  const top = Math.max(peak, 1);
  const areas = forkKinds.map((kind) => {
    const lower = [...below];
    for (const [at, count] of forks[kind].entries()) below[at] = (below[at] ?? 0) + count;
    const y = (value: number): string => ((1 - value / top) * 100).toFixed(2);
    const up = below.map((value, at) => `${at},${y(value)} ${at + 1},${y(value)}`).join(' ');
    const down = lower.map((value, at) => `${at + 1},${y(value)} ${at},${y(value)}`).reverse();
    return html`<polygon class="fill-${kind}" points="${up} ${down.join(' ')}"/>`;
  });
  const step = niceStep(spanMs, 6);
  const ticks = Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, at) => at * step)
    .filter((ms) => ms / spanMs < 0.94)
    .map((ms) => {
      const x = `${((ms / spanMs) * 100).toFixed(3)}%`;
      return html`<line class="axis" x1="${x}" x2="${x}" y1="122" y2="128"/><text x="${x}" y="142" dx="3">${ms === 0 ? '0' : durationText(ms)}</text>`;
    });
  const most = `at most ${countText(peak)} at once`;
  return html`<section class="card" id="timeline" aria-labelledby="timeline-title"><h2 id="timeline-title">Running forks <span class="note">${most}</span></h2>${note === '' ? null : html`<p class="note">${note}</p>`}
<ul class="legend">${forkKinds.map((kind) => html`<li><span class="swatch fill-${kind}" aria-hidden="true"></span>${kind}</li>`)}</ul>
<svg class="chart" role="img" aria-label="Running forks over time, ${most}" width="100%" height="150">
<svg width="100%" height="122" viewBox="0 0 ${buckets} 100" preserveAspectRatio="none">${areas}</svg>
<line class="axis" x1="0" x2="100%" y1="122" y2="122"/>${ticks}</svg></section>`;
}
