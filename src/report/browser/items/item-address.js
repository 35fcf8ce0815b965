/**
 * The address of an item in the report, such as `report.html#row-03`.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 */

/** @param {PageItem} item */
export function addressOf(item) {
  return `#${encodeURIComponent(item.id)}`;
}

/**
 * @param {string} hash of the page's address, with its `#`; empty if it has none
 * @param {readonly PageItem[]} items
 * @returns {PageItem | undefined}
 */
export function itemAt(hash, items) {
  const text = hash.slice(1);
  return items.find(({ id }) => id === text || id === decoded(text));
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
