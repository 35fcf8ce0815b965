/** Handles the keyboard. Keys with a modifier, and keys that are typed into a field, are left to the browser. */
import { browsing, moveCursor, toggleChosen } from './browsing.js';
import { byId, dialogById, inputById } from './dom.js';
import { openComparison } from './items/compare-dialog.js';
import { openItem, stepItem } from './items/item-dialog.js';
import { focusCursorRow } from './items/item-table.js';
import { stepLane, toggleFit, zoomBy } from './lanes/lanes.js';
import { toggleTheme } from './theme.js';

/** @type {Record<string, () => void>} */
const anywhere = { '?': toggleHelp, t: toggleTheme };

/** @type {Record<string, () => void>} */
const onPage = {
  j: () => moveInTable(browsing.cursor + 1),
  k: () => moveInTable(browsing.cursor - 1),
  g: () => moveInTable(0),
  G: () => moveInTable(browsing.shown.length - 1),
  x: chooseUnderCursor,
  c: openComparison,
  '/': () => inputById('filter-text').focus(),
  f: toggleFit,
  '+': () => zoomBy(2),
  '=': () => zoomBy(2),
  '-': () => zoomBy(0.5),
};

/** @type {Record<string, () => void>} */
const inTable = { ArrowDown: onPage.j, ArrowUp: onPage.k, Home: onPage.g, End: onPage.G };

/** @type {Record<string, () => void>} */
const inLanes = {
  ArrowDown: () => stepLane(1),
  ArrowUp: () => stepLane(-1),
  PageDown: () => stepLane(20),
  PageUp: () => stepLane(-20),
  Enter: openItem,
};

/** @type {Record<string, () => void>} */
const inItem = { j: () => stepItem(1), k: () => stepItem(-1), x: chooseUnderCursor, c: openComparison };

export function startKeys() {
  document.addEventListener('keydown', onKey);
  for (const button of document.querySelectorAll('dialog [data-close]')) {
    button.addEventListener('click', () => button.closest('dialog')?.close());
  }
  dialogById('item-dialog').addEventListener('close', focusCursorRow);
  byId('help-button').addEventListener('click', toggleHelp);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target instanceof Element ? event.target : document.body;
  const isTyping = target instanceof HTMLInputElement && target.type !== 'checkbox';
  if (isTyping) {
    if (event.key === 'Escape' || event.key === 'Enter') moveInTable(browsing.cursor);
    return;
  }
  const action = keysAt(target)[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** @param {Element} target */
function keysAt(target) {
  const dialog =
    document.querySelector('#help-dialog[open], #compare-dialog[open]') ?? document.querySelector('dialog[open]');
  if (dialog) return { ...anywhere, ...(dialog.id === 'item-dialog' ? inItem : {}) };
  if (target.id === 'lanes-view') return { ...anywhere, ...onPage, ...inLanes };
  return { ...anywhere, ...onPage, ...(target.closest('#item-table tbody') ? inTable : {}) };
}

/** @param {number} place */
function moveInTable(place) {
  moveCursor(place);
  focusCursorRow();
}

function chooseUnderCursor() {
  const item = browsing.shown[browsing.cursor];
  if (item) toggleChosen(item);
}

function toggleHelp() {
  const dialog = dialogById('help-dialog');
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
