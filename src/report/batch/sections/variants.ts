/** The section that compares the variants of a matrix. */
import { countText, dollarsText, durationText, machineText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import type { VariantRow } from '../variants.js';

/** @returns null if there are no variants */
export function variantsSection(rows: readonly VariantRow[], dollarsPerSecond: number | null): Markup | null {
  if (rows.length === 0) return null;
  const perItem = dollarsPerSecond === null ? 'Machine time each' : 'Cost each';
  const perCompleted = dollarsPerSecond === null ? 'Machine time per completed' : 'Cost per completed';
  const cost = (seconds: number, count: number): string => {
    if (count === 0) return '–';
    return dollarsPerSecond === null ? machineText(seconds / count) : dollarsText((seconds / count) * dollarsPerSecond);
  };
  const body = rows.map(({ name, items, leftOut, completed, medianMs, p90Ms, machineSeconds }) => {
    const rate = items === 0 ? '–' : percent(completed / items);
    const others = leftOut === 0 ? '' : `, ${countText(leftOut)} left out`;
    return html`<tr><th scope="row"><bdi>${name}</bdi></th>
<td class="rate"><span>${rate}</span> <span class="note">${countText(completed)} of ${countText(items)}${others}</span></td>
<td class="number">${medianMs === null ? '–' : durationText(medianMs)}</td><td class="number wide">${p90Ms === null ? '–' : durationText(p90Ms)}</td>
<td class="number wide">${cost(machineSeconds, items)}</td><td class="number">${cost(machineSeconds, completed)}</td></tr>`;
  });
  return html`<section class="card" id="variants" aria-labelledby="variants-title"><h2 id="variants-title">Variants</h2>
<table class="plain"><thead><tr><th scope="col">Variant</th><th scope="col">Completed</th><th scope="col" class="number">Median</th><th scope="col" class="number wide">p90</th><th scope="col" class="number wide">${perItem}</th><th scope="col" class="number">${perCompleted}</th></tr></thead>
<tbody>${body}</tbody></table></section>`;
}

/** 100 % only if all completed, and 0 % only if none did. */
function percent(share: number): string {
  const whole = Math.round(share * 100);
  if (share > 0 && whole === 0) return '< 1 %';
  return share < 1 && whole === 100 ? '> 99 %' : `${whole} %`;
}
