/** Compares the variants of a batch that is a grid of prompts and variants. */
import { isDecided } from './failures.js';
import { type PageItem, placeOf } from './items.js';
import { html, link, type Markup } from './markup.js';
import { countOf, countText, durationText, machineText, medianText, shareText, sum } from './numbers.js';
import { outcomeBadge } from './outcome-styles.js';

type Matrix = NonNullable<ReturnType<typeof matrixOf>>;

const mostRows = 400;
const mostColumns = 24;
/** Labels that `sandflow fanout` sets for a matrix, in the order in which their values end the ids of the items. */
const axes = ['provider', 'model', 'effort', 'repeat'];
/** `prompt` belongs to the row, and `repeat` numbers runs of the same variant. */
const noVariant: ReadonlySet<string> = new Set(['prompt', 'repeat']);

/**
 * Returns the matrix that the items form, or null if they form none. A matrix has at least two variants, and most of
 * its cells are filled.
 */
export function matrixOf(items: readonly PageItem[]) {
  const rows = new Map<string, { prompt: string; byColumn: Map<string, PageItem[]> }>();
  const columns = new Set<string>();
  const names = variantNames(items);
  for (const item of items) {
    const column = names
      .map((name) => label(item, name))
      .filter(Boolean)
      .join(' · ');
    const key = rowKey(item);
    if (!key || !column) return null;
    const row = rows.get(key) ?? { prompt: item.labels.prompt ?? (item.prompt || key), byColumn: new Map() };
    row.byColumn.set(column, [...(row.byColumn.get(column) ?? []), item]);
    rows.set(key, row);
    columns.add(column);
    if (rows.size > mostRows || columns.size > mostColumns) return null;
  }
  const all = [...rows.values()];
  const filled = all.reduce((count, { byColumn }) => count + byColumn.size, 0);
  if (columns.size < 2 || filled < 0.75 * rows.size * columns.size) return null;
  return {
    columns: [...columns],
    rows: all.map(({ prompt, byColumn }) => ({
      prompt,
      // The items of each variant.
      cells: [...columns].map((column) => byColumn.get(column) ?? []),
    })),
  };
}

/** The labels that distinguish variants: the known axes if the items have any, otherwise all labels. */
function variantNames(items: readonly PageItem[]): string[] {
  const all = [...new Set(items.flatMap(({ labels }) => Object.keys(labels)))].filter((name) => !noVariant.has(name));
  const known = axes.filter((name) => all.includes(name));
  return known.length > 0 ? known : all;
}

/** Key of the row that an item belongs to: its id without the values of the axes, or else its prompt. */
function rowKey(item: PageItem): string {
  const { id, labels, prompt } = item;
  const values = axes.filter((name) => Object.hasOwn(labels, name)).map((name) => label(item, name));
  const end = `/${values.join('/')}`;
  return values.length > 0 && id.endsWith(end) ? id.slice(0, -end.length) : (labels.prompt ?? prompt);
}

function label({ labels }: PageItem, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '') : '';
}

/** Success, time and cost of each variant, then the outcome of each cell. @returns null without a matrix */
export function comparisonSection(matrix: Matrix | null, dollarsPerSecond: number | null): Markup | null {
  if (!matrix) return null;
  const { columns, rows } = matrix;
  const variants = columns.map((name, column) => {
    const all = rows.flatMap(({ cells }) => cells[column] ?? []);
    return variantRow(name, all, dollarsPerSecond);
  });
  return html`<section><h2>Variants</h2><div class="wide"><table><thead><tr><th scope="col">Variant</th><th scope="col">Completed</th><th scope="col" class="number">Median</th><th scope="col" class="number">Machine time each</th><th scope="col" class="number">Per completed</th></tr></thead><tbody>${variants}</tbody></table></div>
<h2>Matrix</h2><p class="note">${countOf(rows.length, 'prompt', 'prompts')} × ${columns.length} variants.</p>
<div class="wide"><table><thead><tr><th scope="col">Prompt</th>${columns.map((name) => html`<th scope="col"><bdi>${name}</bdi></th>`)}</tr></thead>
<tbody>${rows.map(matrixRow)}</tbody></table></div></section>`;
}

/** What was ended early or never started, or failed by another's fault, says nothing of the variant: only its number is shown. */
function variantRow(name: string, all: readonly PageItem[], dollarsPerSecond: number | null): Markup {
  const own = all.filter((item) => isDecided(item) && [null, 'agent', 'check'].includes(item.failureClass));
  const completed = own.filter(({ outcome }) => outcome === 'completed').length;
  const leftOut = all.length - own.length;
  const seconds = sum(own.map(({ machineSeconds }) => machineSeconds));
  const per = (count: number): string => (count === 0 ? '–' : machineText(seconds / count, dollarsPerSecond));
  return html`<tr><th scope="row"><bdi>${name}</bdi></th><td>${shareText(completed, own.length)} <span class="note">${countText(completed)} of ${countText(own.length)}${leftOut === 0 ? null : `, ${countText(leftOut)} left out`}</span></td>
<td class="number">${medianText(own.map(({ durationMs }) => durationMs))}</td><td class="number">${per(own.length)}</td><td class="number">${per(completed)}</td></tr>`;
}

function matrixRow({ prompt, cells }: Matrix['rows'][number]): Markup {
  const entry = ({ id, outcome, durationMs }: PageItem): Markup =>
    html`<p>${outcomeBadge(outcome)} <span class="note">${durationMs === null ? null : durationText(durationMs)}</span><br>${link(...placeOf(id))}</p>`;
  return html`<tr><th scope="row"><bdi>${prompt}</bdi></th>${cells.map((items) => html`<td>${items.map(entry)}</td>`)}</tr>`;
}
