/** Numbers as people read them. */
import { html, type Markup } from './markup.js';

/** `350 ms`, `9.5 s`, `42 s`, `3 m 5 s`, `2 h 10 m`, `4 d 3 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return pair(seconds, 60, 'm', 's');
  const minutes = Math.round(seconds / 60);
  return minutes < 1_440 ? pair(minutes, 60, 'h', 'm') : pair(Math.round(minutes / 60), 24, 'd', 'h');
}

function pair(small: number, size: number, large: string, rest: string): string {
  const left = small % size;
  return `${Math.floor(small / size)} ${large}${left ? ` ${left} ${rest}` : ''}`;
}

/** `812 B`, `3.4 kB`, `12 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [size, unit] = bytes < 999_500 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** An amount at list price: `$12.40`; below one dollar `$0.0042`; an amount that would round to nothing: `< $0.0001`. */
export function dollarsText(dollars: number): string {
  const known = Number.isFinite(dollars) ? Math.max(0, dollars) : 0;
  if (known > 0 && known < 0.00005) return '< $0.0001';
  return `$${known.toFixed(known > 0 && known < 1 ? 4 : 2)}`;
}

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

/** Machine-seconds, and their list price if it is known: `12 s`, `264 s (4 m 24 s), $0.2640`. */
export function machineText(seconds: number, dollarsPerSecond: number | null): string {
  const exact = `${seconds < 10 ? Number(seconds.toFixed(1)) : countText(seconds)} s`;
  const time = seconds < 120 ? exact : `${exact} (${durationText(seconds * 1_000)})`;
  return dollarsPerSecond === null ? time : `${time}, ${dollarsText(seconds * dollarsPerSecond)}`;
}

/** 100 % only if all are, and 0 % only if none is. */
export function shareText(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = Math.round((part / whole) * 100);
  if (part > 0 && percent === 0) return '< 1 %';
  return part < whole && percent === 100 ? '> 99 %' : `${percent} %`;
}

/** A duration that at least half of the others do not exceed; `–` if there are none. */
export function medianText(durationsMs: readonly (number | null)[]): string {
  const known = durationsMs.filter((ms) => ms !== null).sort((a, b) => a - b);
  const median = known[Math.ceil(known.length / 2) - 1];
  return median === undefined ? '–' : durationText(median);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** How many items are of each kind, with a bar for each share. Leaves out what there is none of. */
export function barsTable(head: string, rows: readonly { readonly name: Markup; readonly count: number }[]): Markup {
  const all = sum(rows.map(({ count }) => count));
  const shown = rows
    .filter(({ count }) => count > 0)
    .map(
      ({ name, count }) =>
        html`<tr><th scope="row">${name}</th><td class="number">${countText(count)}</td><td class="number">${shareText(count, all)}</td><td class="bar" aria-hidden="true"><svg><rect width="${Math.max(1, Math.round((count / all) * 100))}%" height="100%" fill="currentColor"/></svg></td></tr>`,
    );
  return html`<table class="bars"><thead><tr><th scope="col">${head}</th><th scope="col" class="number">Items</th><th scope="col" class="number">Share</th><td></td></tr></thead><tbody>${shown}</tbody></table>`;
}
