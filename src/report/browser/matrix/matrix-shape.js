/**
 * Detects whether a batch is a grid of prompts and variants.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {{ rows: Map<string, string>, columns: string[], cells: Map<string, PageItem[]> }} Matrix `rows`: key →
 * prompt
 */

const mostRows = 400;
const mostColumns = 24;
/** Labels that `sandflow fanout` sets for a matrix, in the order in which their values end the ids of the items. */
const axes = ['provider', 'model', 'effort', 'repeat'];
/**
 * Labels that do not belong to a variant: `prompt` belongs to the row, and `repeat` numbers runs of the same variant.
 */
const noVariant = new Set(['prompt', 'repeat']);

/**
 * Returns the matrix that the items form, or null if they form none. A matrix has at least two variants, and most of
 * its cells are filled.
 * @param {readonly PageItem[]} items
 * @returns {Matrix | null}
 */
export function matrixOf(items) {
  /** @type {Matrix['cells']} */
  const cells = new Map();
  /** @type {Matrix['rows']} */
  const rows = new Map();
  const columns = new Set();
  const names = variantNames(items);
  for (const item of items) {
    const column = names
      .map((name) => (Object.hasOwn(item.labels, name) ? item.labels[name] : ''))
      .filter(Boolean)
      .join(' · ');
    const row = rowKey(item);
    if (!row || !column) return null;
    if (!rows.has(row)) rows.set(row, item.labels.prompt ?? (item.prompt || row));
    columns.add(column);
    if (rows.size > mostRows || columns.size > mostColumns) return null;
    const key = cellKey(row, column);
    cells.set(key, [...(cells.get(key) ?? []), item]);
  }
  if (columns.size < 2 || cells.size < 0.75 * rows.size * columns.size) return null;
  return { rows, columns: [...columns], cells };
}

/** @param {string} row @param {string} column */
export function cellKey(row, column) {
  return JSON.stringify([row, column]);
}

/**
 * The labels that distinguish variants: the known axes if the items have any, otherwise all labels.
 * @param {readonly PageItem[]} items
 */
function variantNames(items) {
  const all = [...new Set(items.flatMap(({ labels }) => Object.keys(labels)))].filter((name) => !noVariant.has(name));
  const known = axes.filter((name) => all.includes(name));
  return known.length > 0 ? known : all;
}

/**
 * Key of the row that an item belongs to: its id without the values of the axes, or else its prompt.
 * @param {PageItem} item
 */
function rowKey({ id, labels, prompt }) {
  const values = axes.filter((name) => Object.hasOwn(labels, name)).map((name) => labels[name]);
  const end = `/${values.join('/')}`;
  return values.length > 0 && id.endsWith(end) ? id.slice(0, -end.length) : (labels.prompt ?? prompt);
}
