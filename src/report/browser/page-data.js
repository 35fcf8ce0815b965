/**
 * Reads the data in the page. Each block of details is parsed at its first use, so that a large batch appears
 * immediately.
 * @typedef {import('../page-data.js').PageData} PageData
 * @typedef {import('../page-data.js').PageItem} PageItem
 * @typedef {import('../page-data.js').PageDetails} PageDetails
 */

/** @type {Map<number, PageDetails[]>} */
const detailBlocks = new Map();

/** @type {PageData} */
export const page = parseBlock('report-data');

/** @type {ReadonlyMap<PageItem, number>} */
const places = new Map(page.items.map((item, place) => [item, place]));

/** @param {PageItem} item @returns {PageDetails} */
export function detailsOf(item) {
  const place = places.get(item) ?? 0;
  const number = Math.floor(place / page.detailsPerBlock);
  const block = detailBlocks.get(number) ?? parseBlock(`details-${number}`);
  detailBlocks.set(number, block);
  return block[place % page.detailsPerBlock];
}

/** @param {{ readonly outcome: string }} item @returns {import('../page-data.js').OutcomeStyle} */
export function styleOfItem(item) {
  return page.outcomes[item.outcome] ?? { word: item.outcome, mark: '?', tone: 'calm' };
}

/** @param {string} id */
function parseBlock(id) {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}
