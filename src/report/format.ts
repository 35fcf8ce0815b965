/** Numbers as people read them. `browser/words.js` writes durations and sizes the same way, and a test holds the two together. */

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

/** `2026-03-01 14:05:09 UTC`; a text that is no time stays as it is. */
export function timeText(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? iso : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Machine-seconds: `12 s`, and minutes or hours beside them where they are many. */
export function machineText(seconds: number): string {
  const exact = `${seconds < 10 ? Number(seconds.toFixed(1)) : countText(seconds)} s`;
  return seconds < 120 ? exact : `${exact} (${durationText(seconds * 1_000)})`;
}
