/** Creates the ticks on the axis of the timeline. */

import { element, span } from '../dom.js';
import { page } from '../page-data.js';
import { durationText } from '../words.js';

const stepsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500];
for (const seconds of [
  1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400,
]) {
  stepsMs.push(seconds * 1_000);
}

/**
 * Creates the ticks between `fromMs` and `toMs`, at least about 110 px apart.
 * @param {number} widthPx width of the whole batch
 * @param {number} fromMs
 * @param {number} toMs
 */
export function axisTicks(widthPx, fromMs, toMs) {
  const most = Math.max(1, Math.floor(widthPx / 110));
  const step =
    stepsMs.find((ms) => page.spanMs / ms <= most) ?? 86_400_000 * Math.ceil(page.spanMs / most / 86_400_000);
  const ticks = [];
  for (let at = Math.max(0, Math.floor(fromMs / step) * step); at <= Math.min(toMs, page.spanMs); at += step) {
    const tick = element('span', { class: 'tick' }, span('', at === 0 ? '0' : durationText(at)));
    tick.style.left = `${(100 * at) / page.spanMs}%`;
    ticks.push(tick);
  }
  return ticks;
}
