/**
 * Whether a batch is a grid of prompt and variant.
 * @typedef {import('../page-data.js').PageItem} PageItem
 * @typedef {{ rows: Map<string, string>, columns: string[], cells: Map<string, PageItem[]> }} Matrix `rows`: key → prompt
 */

const mostRows = 400;
const mostColumns = 24;
/** Labels that a matrix of `sandflow fanout` gives, in the order in which they end the ids of its items. */
const axes = ['provider', 'model', 'effort', 'repeat'];
/** Labels that are no variant: of the line, or of one run of several. */
const noVariant = new Set(['prompt', 'repeat']);

/**
 * The matrix that items make, or null if they make none: it has at least two variants, and most of its cells are filled.
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

/** The labels that tell variants apart: axes where there are any, else all. @param {readonly PageItem[]} items */
function variantNames(items) {
  const all = [...new Set(items.flatMap(({ labels }) => Object.keys(labels)))].filter((name) => !noVariant.has(name));
  const known = axes.filter((name) => all.includes(name));
  return known.length > 0 ? known : all;
}

/** What the items of one line have in common: the id before the axes, or else the prompt. @param {PageItem} item */
function rowKey({ id, labels, prompt }) {
  const values = axes.filter((name) => Object.hasOwn(labels, name)).map((name) => labels[name]);
  const end = `/${values.join('/')}`;
  return values.length > 0 && id.endsWith(end) ? id.slice(0, -end.length) : (labels.prompt ?? prompt);
}
