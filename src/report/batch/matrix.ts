/** Detects whether a batch is a grid of prompts and variants. */
import type { PageItem } from '../page-data.js';

export interface MatrixRow {
  readonly prompt: string;
  /** The items of each variant, in the order of `Matrix.columns`. */
  readonly cells: readonly (readonly PageItem[])[];
}

export interface Matrix {
  readonly columns: readonly string[];
  readonly rows: readonly MatrixRow[];
}

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
export function matrixOf(items: readonly PageItem[]): Matrix | null {
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
