/**
 * Shows the items as a grid of prompts and variants, if the batch has this shape.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {import('./matrix-shape.js').Matrix} Matrix
 */
import { browsing, choose, onBrowsing, showAll } from '../browsing.js';
import { byId, element, outcomeBadge } from '../dom.js';
import { openComparison } from '../items/compare-dialog.js';
import { openItem } from '../items/item-dialog.js';
import { page, styleOfItem } from '../page-data.js';
import { durationText } from '../words.js';
import { cellKey, matrixOf } from './matrix-shape.js';

export function startMatrix() {
  const matrix = matrixOf(page.items);
  if (!matrix) return;
  byId('matrix').hidden = false;
  byId('matrix-note').textContent =
    `${matrix.rows.size} ${matrix.rows.size === 1 ? 'prompt' : 'prompts'} × ${matrix.columns.length} variants. Select a prompt to compare its variants, or an outcome to open its item.`;
  const heads = matrix.columns.map((column) => element('th', { scope: 'col' }, element('bdi', {}, column)));
  const rows = [...matrix.rows].map(([row, text]) => matrixRow(matrix, row, text));
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

/** @param {Matrix} matrix @param {string} row @param {string} text */
function matrixRow({ columns, cells }, row, text) {
  const own = columns.map((column) => cells.get(cellKey(row, column)) ?? []);
  const firsts = own.flatMap((items) => items.slice(0, 1));
  const compare = element(
    'button',
    { type: 'button', class: 'row-head', title: text, disabled: firsts.length < 2 },
    element('bdi', {}, text),
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
    outcomeBadge(styleOfItem(item)),
    element('span', { class: 'note' }, took),
  );
  button.addEventListener('click', () => {
    if (!browsing.shown.includes(item)) showAll();
    browsing.cursor = browsing.shown.indexOf(item);
    openItem();
  });
  return button;
}
