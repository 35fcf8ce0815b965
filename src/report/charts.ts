/**
 * Charts as SVG. Positions are percentages in SVG attributes, because the page's security policy forbids style
 * attributes.
 */
import { type Activity, forkKinds } from './batch/activity.js';
import { countText, durationText } from './format.js';
import { html, type Markup } from './markup.js';
import { type Bin, niceStep } from './stats.js';

export const percent = (share: number): string => `${Number((Math.min(1, Math.max(0, share)) * 100).toFixed(3))}%`;

/** Draws the parts of a whole side by side. */
export function shareBar(parts: readonly { readonly tone: string; readonly share: number }[], label: string): Markup {
  let from = 0;
  const rects = parts.map(({ tone, share }) => {
    const rect = html`<rect class="fill-${tone}" x="${percent(from)}" width="${percent(share)}" height="100%"/>`;
    from += share;
    return rect;
  });
  return html`<svg class="share-bar" role="img" aria-label="${label}" width="100%" height="10"><rect class="groove" width="100%" height="100%"/>${rects}</svg>`;
}

/** Draws how often durations occur, with a line at each mark, such as the median. */
export function histogramChart(bins: readonly Bin[], marks: readonly { word: string; at: number }[]): Markup {
  const low = bins[0]?.from ?? 0;
  const high = bins.at(-1)?.to ?? 1;
  const most = bins.reduce((a, { count }) => Math.max(a, count), 1);
  const place = (ms: number): number => (ms - low) / (high - low || 1);
  const bars = bins.map(
    ({ from, to, count }) =>
      html`<rect class="fill-prompting" x="${percent(place(from) + 0.001)}" width="${percent(place(to) - place(from) - 0.002)}" y="${percent(1 - count / most)}" height="${percent(count / most)}"><title>${durationText(from)} to ${durationText(to)}: ${countText(count)}</title></rect>`,
  );
  const lines = marks.map(
    ({ word, at }) =>
      html`<line class="mark" x1="${percent(place(at))}" x2="${percent(place(at))}" y1="0" y2="100%"><title>${word}: ${durationText(at)}</title></line>`,
  );
  return html`<figure class="chart"><svg role="img" aria-label="Histogram of the durations of items" width="100%" height="140">${bars}${lines}</svg>
<figcaption class="ends"><span>${durationText(low)}</span><span>dashed: ${marks.map(({ word }) => word).join(', ')}</span><span>${durationText(high)}</span></figcaption></figure>`;
}

/** Draws the running forks over time, stacked by phase. */
export function activityChart({ forks, peak }: Activity, spanMs: number): Markup {
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
  const ticks = Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, at) => at * step).filter(
    (ms) => ms / spanMs < 0.94,
  );
  return html`<figure class="chart"><svg role="img" aria-label="Running forks over time, at most ${countText(peak)} at once" width="100%" height="150">
<svg width="100%" height="122" viewBox="0 0 ${buckets} 100" preserveAspectRatio="none">${areas}</svg>
<line class="axis" x1="0" x2="100%" y1="122" y2="122"/>
${ticks.map((ms) => html`<line class="axis" x1="${percent(ms / spanMs)}" x2="${percent(ms / spanMs)}" y1="122" y2="128"/><text x="${percent(ms / spanMs)}" y="142" dx="3">${ms === 0 ? '0' : durationText(ms)}</text>`)}</svg></figure>`;
}
