/** Formats numbers for people. `words.js` formats durations and sizes, because the page's script needs it too. */
import { durationText } from './browser/words.js';

export { bytesText, dollarsText, durationText } from './browser/words.js';

/** `1,234`. */
export function countText(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 item`, `2 items`. */
export function countOf(count: number, one: string, many: string): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `2026-03-01 14:05:09 UTC`; a text that is not a time stays unchanged. */
export function timeText(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? iso : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A budget as it is given: `300 h`, `90 m`, `45 s`. */
export function budgetText(seconds: number): string {
  if (seconds > 0 && seconds % 3_600 === 0) return `${countText(seconds / 3_600)} h`;
  return seconds > 0 && seconds % 60 === 0 ? `${countText(seconds / 60)} m` : `${countText(seconds)} s`;
}

/** Machine-seconds: `12 s`; from 120 s on, followed by the time in minutes or hours. */
export function machineText(seconds: number): string {
  const exact = `${seconds < 10 ? Number(seconds.toFixed(1)) : countText(seconds)} s`;
  return seconds < 120 ? exact : `${exact} (${durationText(seconds * 1_000)})`;
}
