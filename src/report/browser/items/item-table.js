/**
 * The table of items: sorts them, opens them, and selects them for comparison.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {import('./item-order.js').SortKey} SortKey
 */
import { browsing, onBrowsing, refresh, toggleChosen } from '../browsing.js';
import { buttonById, byId, element, outcomeBadge } from '../dom.js';
import { styleOfItem } from '../page-data.js';
import { durationText, secondsText } from '../words.js';
import { openItem } from './item-dialog.js';

/** A table with more rows is slow. */
const rowsAtOnce = 300;

/** @type {readonly { key: SortKey, word: string, name: string }[]} */
const columns = [
  { key: 'index', word: '#', name: 'place number' },
  { key: 'id', word: 'Item', name: 'item' },
  { key: 'outcome', word: 'Outcome', name: 'outcome-cell' },
  { key: 'duration', word: 'Took', name: 'took number' },
  { key: 'machine', word: 'Machine', name: 'machine number' },
  { key: 'files', word: 'Files', name: 'files number' },
  { key: 'generation', word: 'Try', name: 'try number' },
];

/** @type {Map<PageItem, HTMLElement>} */
const boxes = new Map();

/** @type {readonly PageItem[] | null} */
let drawn = null;

export function startTable() {
  const head = element('tr', {}, element('th', { scope: 'col', class: 'choice', 'aria-label': 'Selected' }));
  head.append(...columns.map(headCell));
  byId('item-table').querySelector('thead')?.replaceChildren(head);
  buttonById('more-button').addEventListener('click', () => drawRows(boxes.size + rowsAtOnce));
  addEventListener('beforeprint', () => drawRows(browsing.shown.length));
  onBrowsing(draw);
  draw();
}

/** @param {typeof columns[number]} column */
function headCell({ key, word, name }) {
  const button = element('button', { type: 'button', class: 'sort' }, word);
  button.addEventListener('click', () => {
    browsing.descending = browsing.sortKey === key && !browsing.descending;
    browsing.sortKey = key;
    refresh();
  });
  return element('th', { scope: 'col', class: name, 'data-key': key }, button);
}

function draw() {
  if (drawn !== browsing.shown) drawRows(rowsAtOnce);
  for (const [item, box] of boxes) /** @type {HTMLInputElement} */ (box).checked = browsing.chosen.has(item);
  for (const head of byId('item-table').querySelectorAll('th[data-key]')) {
    if (head.getAttribute('data-key') !== browsing.sortKey) head.removeAttribute('aria-sort');
    else head.setAttribute('aria-sort', browsing.descending ? 'descending' : 'ascending');
  }
}

/** @param {number} most */
function drawRows(most) {
  drawn = browsing.shown;
  boxes.clear();
  byId('item-table')
    .querySelector('tbody')
    ?.replaceChildren(...drawn.slice(0, most).map(itemRow));
  buttonById('more-button').hidden = drawn.length <= most;
}

/** @param {PageItem} item */
function itemRow(item) {
  const box = element('input', { type: 'checkbox', 'aria-label': `Select ${item.id}` });
  boxes.set(item, box);
  box.addEventListener('click', (event) => {
    event.stopPropagation();
    if (!toggleChosen(item)) event.preventDefault();
  });
  const second = [...Object.values(item.labels), item.prompt].filter(Boolean).join(' · ');
  const row = element(
    'tr',
    {},
    element('td', { class: 'choice' }, box),
    element('td', { class: 'place number' }, String(item.index + 1)),
    element(
      'th',
      { scope: 'row', class: 'item' },
      element('button', { type: 'button', class: 'open' }, element('bdi', {}, item.id)),
      element('span', { class: 'second', dir: 'auto' }, item.error || second),
    ),
    element('td', { class: 'outcome-cell' }, outcomeBadge(styleOfItem(item))),
    element('td', { class: 'took number' }, item.durationMs === null ? '–' : durationText(item.durationMs)),
    element('td', { class: 'machine number' }, secondsText(item.machineSeconds)),
    element('td', { class: 'files number' }, item.fileCount === 0 ? '–' : String(item.fileCount)),
    element('td', { class: 'try number' }, String(item.generation)),
  );
  row.addEventListener('click', () => openItem(item));
  return row;
}
