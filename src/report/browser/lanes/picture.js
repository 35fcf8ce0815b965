/**
 * Draws all forks in one picture, independent of their number.
 * @typedef {import('./fork-lanes.js').Block} Block
 */
import { page, styleOfItem } from '../page-data.js';

/**
 * @typedef {object} Frame
 * @property {number} widthPx of the picture
 * @property {number} heightPx
 * @property {number} fromPx position of the start of the batch
 * @property {number} spanPx width of the whole batch
 * @property {number} cursor place of the item to highlight
 */

/** @param {HTMLCanvasElement} canvas @param {readonly Block[][]} lanes @param {Frame} frame */
export function drawPicture(canvas, lanes, { widthPx, heightPx, fromPx, spanPx, cursor }) {
  const sharpness = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(widthPx * sharpness));
  canvas.height = Math.max(1, Math.round(heightPx * sharpness));
  canvas.style.width = `${widthPx}px`;
  canvas.style.height = `${heightPx}px`;
  const context = canvas.getContext('2d');
  if (!context || lanes.length === 0) return;
  context.scale(sharpness, sharpness);
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`);
  const x = (/** @type {number} */ ms) => fromPx + (ms / page.spanMs) * spanPx;
  const high = heightPx / lanes.length;
  const gap = high > 4 ? 1.5 : 0;
  for (const kind of /** @type {const} */ (['booting', 'preparing', 'prompting', 'ending'])) {
    context.fillStyle = colour(kind);
    forEachInSight(({ item }, top) => {
      for (const { kind: own, from, to } of item.segments) {
        if (own === kind) context.fillRect(x(from), top + gap / 2, Math.max(x(to) - x(from), 0.4), high - gap);
      }
    });
  }
  const blocks = lanes.reduce((count, lane) => count + lane.length, 0);
  if ((spanPx * lanes.length) / blocks > 16) {
    context.fillStyle = colour('card');
    forEachInSight(({ to }, top) => context.fillRect(x(to) - 0.5, top, 1, high));
  }
  forEachInSight(({ item, to }, top) => {
    const { tone } = styleOfItem(item);
    if (tone === 'good') return;
    // Marks the end of a fork that did not complete with a flag: an edge and a dot.
    context.fillStyle = colour('text');
    context.fillRect(x(to) - 2, top, 2, high);
    if (high >= 8) context.fillRect(x(to) - 6, top + high / 2 - 2, 4, 4);
  });
  forEachInSight(({ place, from, to }, top) => {
    if (place !== cursor) return;
    context.strokeStyle = colour('text');
    context.lineWidth = 2;
    context.strokeRect(x(from) - 1, top, Math.max(x(to) - x(from) + 2, 4), high);
  });

  /** @param {(block: Block, top: number) => void} draw */
  function forEachInSight(draw) {
    for (const [number, lane] of lanes.entries()) {
      for (const block of lane) if (x(block.to) >= 0 && x(block.from) <= widthPx) draw(block, number * high);
    }
  }
}
