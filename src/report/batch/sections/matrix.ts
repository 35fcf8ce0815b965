/** The section with the grid of prompts and variants. The page's script opens and compares its items. */
import { countOf, durationText } from '../../format.js';
import { html, type Markup } from '../../markup.js';
import { outcomeBadge, styleOf } from '../../outcome-styles.js';
import type { PageItem } from '../../page-data.js';
import type { Matrix, MatrixRow } from '../matrix.js';

/**
 * @param placeOf place of an item in the data of the page
 * @returns null if the batch has no such shape
 */
export function matrixSection(matrix: Matrix | null, placeOf: ReadonlyMap<PageItem, number>): Markup | null {
  if (!matrix) return null;
  const { columns, rows } = matrix;
  return html`<section class="card" id="matrix" aria-labelledby="matrix-title"><h2 id="matrix-title">Matrix</h2>
<p class="note">${countOf(rows.length, 'prompt', 'prompts')} × ${columns.length} variants. Select a prompt to compare its variants, or an outcome to open its item.</p>
<div class="matrix-view"><table class="matrix"><thead><tr><th scope="col">Prompt</th>${columns.map((name) => html`<th scope="col"><bdi>${name}</bdi></th>`)}</tr></thead>
<tbody>${rows.map((row) => matrixRow(row, placeOf))}</tbody></table></div></section>`;
}

function matrixRow({ prompt, cells }: MatrixRow, placeOf: ReadonlyMap<PageItem, number>): Markup {
  const places = cells.flatMap((items) => items.slice(0, 1)).map((item) => placeOf.get(item));
  const head =
    places.length < 2
      ? html`<bdi>${prompt}</bdi>`
      : html`<button type="button" class="row-head" title="${prompt}" data-places="${places.join(' ')}"><bdi>${prompt}</bdi></button>`;
  const button = (item: PageItem): Markup => {
    const took = item.durationMs === null ? '–' : durationText(item.durationMs);
    return html`<button type="button" class="matrix-item" title="${item.id}" data-places="${placeOf.get(item) ?? 0}">${outcomeBadge(styleOf(item.outcome))}<span class="note">${took}</span></button>`;
  };
  return html`<tr><th scope="row">${head}</th>${cells.map((items) => html`<td>${items.map(button)}</td>`)}</tr>`;
}
