/**
 * The state of the page: filters, order, and the items selected for comparison. Views subscribe to it.
 * @typedef {import('../page-data.js').PageItem} PageItem
 * @typedef {import('./items/item-order.js').SortKey} SortKey
 */
import { filterItems, sortItems } from './items/item-order.js';
import { detailsOf, page, styleOfItem } from './page-data.js';

const mostChosen = 4;

export const browsing = {
  text: '',
  /** @type {Set<string>} */
  outcomes: new Set(),
  /** Number of the group of failures whose items are shown; null shows all items. @type {number | null} */
  failure: null,
  /** @type {SortKey} */
  sortKey: 'index',
  descending: false,
  /** @type {readonly PageItem[]} */
  shown: page.items,
  /** @type {Set<PageItem>} */
  chosen: new Set(),
};

/** @type {(() => void)[]} */
const listeners = [];

/** @type {Map<PageItem, string>} */
const searchTexts = new Map();

/** @param {() => void} listener is called after every change */
export function onBrowsing(listener) {
  listeners.push(listener);
}

/** Applies filters and order. */
export function refresh() {
  const places = browsing.failure === null ? null : new Set(page.failures[browsing.failure]);
  const candidates = places ? page.items.filter((_, place) => places.has(place)) : page.items;
  const found = filterItems(candidates, browsing.outcomes, browsing.text, searchTextOf);
  browsing.shown = sortItems(found, browsing.sortKey, browsing.descending);
  announce();
}

/** Shows the items of one group of failures, or all items, without any other filter. @param {number | null} failure */
export function showOnly(failure) {
  browsing.outcomes.clear();
  browsing.failure = failure;
  browsing.text = '';
  refresh();
}

/** @param {PageItem} item @returns {boolean} false if the maximum number of items is already chosen */
export function toggleChosen(item) {
  if (browsing.chosen.has(item)) browsing.chosen.delete(item);
  else if (browsing.chosen.size >= mostChosen) return false;
  else browsing.chosen.add(item);
  announce();
  return true;
}

export function clearChosen() {
  browsing.chosen.clear();
  announce();
}

function announce() {
  for (const listener of listeners) listener();
}

/** @param {PageItem} item */
function searchTextOf(item) {
  const known = searchTexts.get(item);
  if (known !== undefined) return known;
  const { prompts, files, sandboxId, sandboxName, error } = detailsOf(item);
  const texts = [item.id, styleOfItem(item).word, item.error, error?.message.text, sandboxId, sandboxName];
  for (const [name, value] of Object.entries(item.labels)) texts.push(name, value);
  for (const prompt of prompts) texts.push(prompt.prompt.text, prompt.answer?.text, prompt.error?.text);
  for (const { path } of files) texts.push(path);
  const text = texts.filter(Boolean).join('\n').toLowerCase();
  searchTexts.set(item, text);
  return text;
}
