/** Computes which of many rows of equal height a scrolled view shows, so that only these become elements. */

const extraRows = 8;

/**
 * @param {{ scrollTop: number, clientHeight: number }} view
 * @param {number} rowHeight px
 * @param {number} count
 * @returns {{ first: number, end: number }} `end` is the first row that does not become an element
 */
export function visibleRows({ scrollTop, clientHeight }, rowHeight, count) {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - extraRows));
  const end = Math.min(count, Math.ceil((scrollTop + clientHeight) / rowHeight) + extraRows);
  return { first, end: Math.max(first, end) };
}

/**
 * Draws the rows in sight. A view takes its height from its rows: if it grows by those that are drawn, more of them are in
 * sight.
 * @param {{ scrollTop: number, clientHeight: number }} view
 * @param {number} rowHeight px
 * @param {number} count
 * @param {(rows: { first: number, end: number }) => void} draw
 */
export function drawVisible(view, rowHeight, count, draw) {
  let height = -1;
  while (view.clientHeight > height) {
    height = view.clientHeight;
    draw(visibleRows(view, rowHeight, count));
  }
}

/**
 * Scrolls so that a row is in sight.
 * @param {HTMLElement} view
 * @param {number} place
 * @param {number} rowHeight px
 * @param {number} headHeight px at the top of the view that the head covers
 */
export function scrollToRow(view, place, rowHeight, headHeight) {
  const top = place * rowHeight;
  if (top < view.scrollTop) view.scrollTop = top;
  const bottom = top + rowHeight + headHeight;
  if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
}
