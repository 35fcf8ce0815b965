/**
 * Packs forks into lanes. A fork takes the lane of a fork that has already ended. So the number of lanes is the largest
 * number of forks that ran at the same time. Items of an earlier run of the batch have no lane.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {{ readonly from: number, readonly to: number, readonly place: number, readonly item: PageItem }} Block
 */

/**
 * @param {readonly PageItem[]} items
 * @returns {Block[][]} lanes; the forks in one lane do not overlap, and are ordered by start
 */
export function packForks(items) {
  /** @type {Block[]} */
  const blocks = [];
  for (const [place, item] of items.entries()) {
    if (item.earlier) continue;
    const lives = item.segments.filter(({ kind }) => kind !== 'queued');
    if (lives.length > 0) blocks.push({ from: lives[0].from, to: lives[lives.length - 1].to, place, item });
  }
  blocks.sort((a, b) => a.from - b.from);
  /** @type {Block[][]} */
  const lanes = [];
  for (const block of blocks) {
    const free = lanes.find((lane) => lane[lane.length - 1].to <= block.from);
    if (free) free.push(block);
    else lanes.push([block]);
  }
  return lanes;
}
