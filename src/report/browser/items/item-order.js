/**
 * Which items are shown, and in which order.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {'index' | 'id' | 'outcome' | 'duration' | 'machine' | 'files' | 'generation'} SortKey
 */

/** @type {Record<SortKey, (item: PageItem) => number | string>} */
const sortValues = {
  index: (item) => item.index,
  id: (item) => item.id,
  outcome: (item) => item.outcome,
  duration: (item) => item.durationMs ?? -1,
  machine: (item) => item.machineSeconds,
  files: (item) => item.fileCount,
  generation: (item) => item.generation,
};

const byText = new Intl.Collator('en', { numeric: true });

/**
 * Returns a sorted copy. Items with equal values keep the order of the batch.
 * @param {readonly PageItem[]} items
 * @param {SortKey} key
 * @param {boolean} descending
 */
export function sortItems(items, key, descending) {
  const value = sortValues[key];
  const sign = descending ? -1 : 1;
  return [...items].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    const order = typeof left === 'string' ? byText.compare(left, String(right)) : left - Number(right);
    return sign * order || a.index - b.index;
  });
}

/**
 * Keeps the items that have one of the outcomes and contain every word of the text. An empty set of outcomes allows all
 * outcomes.
 * @param {readonly PageItem[]} items
 * @param {ReadonlySet<string>} outcomes
 * @param {string} text
 * @param {(item: PageItem) => string} textOf returns the text of an item in lower case
 */
export function filterItems(items, outcomes, text, textOf) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter(
    (item) =>
      (outcomes.size === 0 || outcomes.has(item.outcome)) &&
      (words.length === 0 || words.every((word) => textOf(item).includes(word))),
  );
}
