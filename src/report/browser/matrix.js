/**
 * Items as a grid of prompt and variant, where the batch is one.
 * @typedef {import('../page-data.js').PageItem} PageItem
 * @typedef {{ rows: string[], columns: string[], cells: Map<string, PageItem[]> }} Matrix
 */
import { browsing, choose, onBrowsing, refresh } from './browsing.js';
import { openComparison } from './compare-dialog.js';
import { byId, element, outcomeBadge } from './dom.js';
import { openItem } from './item-dialog.js';
import { lookOfItem, page } from './page-data.js';
import { durationText } from './words.js';

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

export function startMatrix() {
  const matrix = matrixOf(page.items);
  if (!matrix) return;
  byId('matrix').hidden = false;
  byId('matrix-note').textContent =
    `${matrix.rows.length} prompts × ${matrix.columns.length} variants. A row compares its variants.`;
  const heads = matrix.columns.map((column) => element('th', { scope: 'col' }, element('bdi', {}, column)));
  const rows = matrix.rows.map((row) => matrixRow(matrix, row));
  byId('matrix-view').replaceChildren(
    element(
      'table',
      { class: 'matrix' },
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Prompt'), ...heads)),
      element('tbody', {}, ...rows),
    ),
  );
  onBrowsing(() => {
    for (const button of byId('matrix-view').querySelectorAll('button[data-index]')) {
      const isChosen = [...browsing.chosen].some(({ index }) => String(index) === button.getAttribute('data-index'));
      button.classList.toggle('chosen', isChosen);
    }
  });
}

/** @param {Matrix} matrix @param {string} row */
function matrixRow({ columns, cells }, row) {
  const own = columns.map((column) => cells.get(cellKey(row, column)) ?? []);
  const firsts = own.flatMap((items) => items.slice(0, 1));
  const compare = element(
    'button',
    { type: 'button', class: 'row-head', title: row, disabled: firsts.length < 2 },
    element('bdi', {}, row),
  );
  compare.addEventListener('click', () => {
    choose(firsts);
    openComparison();
  });
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, compare),
    ...own.map((items) => element('td', {}, ...items.map(itemButton))),
  );
}

/** @param {PageItem} item */
function itemButton(item) {
  const took = item.durationMs === null ? '–' : durationText(item.durationMs);
  const button = element(
    'button',
    { type: 'button', class: 'matrix-item', 'data-index': item.index, title: item.id },
    outcomeBadge(lookOfItem(item)),
    element('span', { class: 'note' }, took),
  );
  button.addEventListener('click', () => {
    if (!browsing.shown.includes(item)) {
      browsing.outcomes.clear();
      browsing.text = '';
      refresh();
    }
    browsing.cursor = browsing.shown.indexOf(item);
    openItem();
  });
  return button;
}
