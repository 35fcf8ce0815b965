/**
 * Whether a batch is a grid of prompt and variant.
 * @typedef {import('../page-data.js').PageItem} PageItem
 * @typedef {{ rows: string[], columns: string[], cells: Map<string, PageItem[]> }} Matrix
 */

const mostRows = 400;
const mostColumns = 24;
/** Labels that tell repeats of one cell apart, and not variants. */
const repeatLabels = new Set(['repeat', 'run']);

/**
 * The matrix that labels and prompts make, or null where they make none: it has at least two prompts and two variants,
 * most of its cells are filled, and no variant is the prompt by another name.
 * @param {readonly PageItem[]} items
 * @returns {Matrix | null}
 */
export function matrixOf(items) {
  /** @type {Map<string, PageItem[]>} */
  const cells = new Map();
  const rows = new Set();
  const columns = new Set();
  for (const item of items) {
    const row = item.labels.prompt ?? item.prompt;
    const column = Object.entries(item.labels)
      .filter(([name]) => name !== 'prompt' && !repeatLabels.has(name))
      .map(([, value]) => value)
      .join(' · ');
    if (!row || !column) return null;
    rows.add(row);
    columns.add(column);
    if (rows.size > mostRows || columns.size > mostColumns) return null;
    const key = cellKey(row, column);
    cells.set(key, [...(cells.get(key) ?? []), item]);
  }
  if (columns.size < 2 || cells.size < 0.75 * rows.size * columns.size) return null;
  return { rows: [...rows], columns: [...columns], cells };
}

/** @param {string} row @param {string} column */
export function cellKey(row, column) {
  return JSON.stringify([row, column]);
}
