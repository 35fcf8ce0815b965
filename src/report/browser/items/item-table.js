/**
 * The table of items. Only visible rows are elements; for printing, all rows are.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {import('./item-order.js').SortKey} SortKey
 */
import { browsing, moveCursor, onBrowsing, refresh, toggleChosen } from '../browsing.js';
import { byId, element, outcomeBadge, segmentBars, span } from '../dom.js';
import { page, styleOfItem } from '../page-data.js';
import { durationText, secondsText } from '../words.js';
import { openItem } from './item-dialog.js';
import { drawVisible, scrollToRow } from './visible-rows.js';

const rowHeight = 54;
const headHeight = 40;

/** @type {readonly { key: SortKey | null, word: string, name: string }[]} */
const columns = [
  { key: null, word: '', name: 'choice' },
  { key: 'index', word: '#', name: 'place' },
  { key: 'id', word: 'Item', name: 'item' },
  { key: 'outcome', word: 'Outcome', name: 'outcome-cell' },
  { key: 'duration', word: 'Took', name: 'took' },
  { key: null, word: 'Phases', name: 'phases' },
  { key: 'machine', word: 'Machine', name: 'machine' },
  { key: 'files', word: 'Files', name: 'files' },
  { key: 'generation', word: 'Try', name: 'try' },
];

const longestMs = page.items.reduce((most, { durationMs }) => Math.max(most, durationMs ?? 0), 1);
let isPrinting = false;

export function startTable() {
  const view = byId('table-view');
  drawHead();
  view.addEventListener('scroll', () => requestAnimationFrame(drawRows), { passive: true });
  addEventListener('resize', () => drawRows());
  for (const type of ['beforeprint', 'afterprint']) {
    addEventListener(type, () => {
      isPrinting = type === 'beforeprint';
      drawRows();
    });
  }
  view.addEventListener('click', onClick);
  onBrowsing(drawRows);
  drawRows();
}

/** Scrolls to the row under the cursor and focuses it. */
export function focusCursorRow() {
  scrollToRow(byId('table-view'), browsing.cursor, rowHeight, headHeight);
  drawRows();
  const button = document.querySelector('#item-table tr.cursor button.open');
  if (button instanceof HTMLElement) button.focus({ preventScroll: true });
  byId('table-view').scrollIntoView({ block: 'nearest' });
}

function drawHead() {
  const row = document.querySelector('#item-table thead tr');
  const cells = columns.map(({ key, word, name }) => {
    const cell = element('th', { scope: 'col', class: name });
    if (key === null) cell.append(word === '' ? span('hidden-text', 'Selected for comparison') : word);
    else {
      const button = element('button', { type: 'button', class: 'sort' }, word, span('arrow', ''));
      button.addEventListener('click', () => {
        browsing.descending = browsing.sortKey === key ? !browsing.descending : false;
        browsing.sortKey = key;
        refresh();
      });
      cell.append(button);
    }
    return cell;
  });
  row?.replaceChildren(...cells);
}

function drawRows() {
  const body = document.querySelector('#item-table tbody');
  const count = browsing.shown.length;
  const focused = document.activeElement;
  const focusedPart = focused?.closest('#item-table tbody') ? focused.className : '';
  /** @param {{ first: number, end: number }} rows */
  const draw = ({ first, end }) => {
    const rows = browsing.shown.slice(first, end).map((item, step) => itemRow(item, first + step));
    body?.replaceChildren(spacer(first), ...rows, spacer(count - end));
  };
  if (isPrinting) draw({ first: 0, end: count });
  else drawVisible(byId('table-view'), rowHeight, count, draw);
  if (focusedPart) {
    const again = document.querySelector(`#item-table tr.cursor .${focusedPart}`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }
  byId('item-table').setAttribute('aria-rowcount', String(count + 1));
  showOrder();
}

function showOrder() {
  for (const [place, { key }] of columns.entries()) {
    const cell = document.querySelector(`#item-table thead th:nth-child(${place + 1})`);
    const arrow = cell?.querySelector('.arrow');
    if (!cell || !arrow) continue;
    const isSorted = key === browsing.sortKey;
    arrow.textContent = isSorted ? (browsing.descending ? ' ▾' : ' ▴') : '';
    if (isSorted) cell.setAttribute('aria-sort', browsing.descending ? 'descending' : 'ascending');
    else cell.removeAttribute('aria-sort');
  }
}

/** @param {PageItem} item @param {number} place */
function itemRow(item, place) {
  const isCursor = place === browsing.cursor;
  const isChosen = browsing.chosen.has(item);
  const tabindex = isCursor ? 0 : -1;
  const choice = element('input', {
    type: 'checkbox',
    class: 'choose',
    tabindex,
    checked: isChosen,
    'aria-label': `Select ${item.id}`,
  });
  const phases = element('span', { class: 'track', 'aria-hidden': 'true' });
  const lives = item.segments.filter(({ kind }) => kind !== 'queued');
  const begin = lives[0]?.from ?? 0;
  phases.append(...segmentBars(lives, begin, begin + longestMs));
  const second = [...Object.values(item.labels), item.prompt].filter(Boolean).join(' · ');
  const open = element('button', { type: 'button', class: 'open', tabindex }, element('bdi', {}, item.id));
  return element(
    'tr',
    {
      class: [isCursor ? 'cursor' : '', isChosen ? 'chosen' : ''].join(' ').trim(),
      'data-place': place,
      'aria-rowindex': place + 2,
    },
    element('td', { class: 'choice' }, choice),
    element('td', { class: 'place number' }, String(item.index + 1)),
    element(
      'th',
      { scope: 'row', class: 'item' },
      open,
      element('span', { class: 'second', dir: 'auto' }, item.error || second),
    ),
    element('td', { class: 'outcome-cell' }, outcomeBadge(styleOfItem(item))),
    element('td', { class: 'took number' }, item.durationMs === null ? '–' : durationText(item.durationMs)),
    element('td', { class: 'phases' }, phases),
    element('td', { class: 'machine number' }, secondsText(item.machineSeconds)),
    element('td', { class: 'files number' }, item.fileCount === 0 ? '–' : String(item.fileCount)),
    element('td', { class: 'try number' }, String(item.generation)),
  );
}

/** @param {number} rows number of rows that are not elements */
function spacer(rows) {
  const cell = element('td', {});
  cell.style.height = `${rows * rowHeight}px`;
  return element('tr', { class: 'spacer', 'aria-hidden': 'true', hidden: rows === 0 }, cell);
}

/** @param {MouseEvent} event */
function onClick(event) {
  const target = event.target instanceof Element ? event.target : null;
  const row = target?.closest('tbody tr[data-place]');
  if (!(row instanceof HTMLElement)) return;
  const place = Number(row.dataset.place);
  if (target?.closest('td.choice')) {
    if (!toggleChosen(browsing.shown[place])) event.preventDefault();
    moveCursor(place);
    return;
  }
  moveCursor(place);
  openItem();
}
