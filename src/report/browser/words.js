/** Numbers as people read them, in the page's HTML and in its script. `words.d.ts` has the types. */

/**
 * `350 ms`, `9.5 s`, `42 s`, `3 m 5 s`, `2 h 10 m`, `4 d 3 h`.
 * @param {number} ms
 */
export function durationText(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return pair(seconds, 60, 'm', 's');
  const minutes = Math.round(seconds / 60);
  return minutes < 1_440 ? pair(minutes, 60, 'h', 'm') : pair(Math.round(minutes / 60), 24, 'd', 'h');
}

/** @param {number} small @param {number} size @param {string} large @param {string} rest */
function pair(small, size, large, rest) {
  const left = small % size;
  return `${Math.floor(small / size)} ${large}${left ? ` ${left} ${rest}` : ''}`;
}

/**
 * `812 B`, `3.4 kB`, `12 MB`.
 * @param {number} bytes
 */
export function bytesText(bytes) {
  if (bytes < 1_000) return `${bytes} B`;
  const [size, unit] = bytes < 999_500 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** @param {number} seconds */
export function secondsText(seconds) {
  return seconds < 10 ? `${Number(seconds.toFixed(1))} s` : durationText(seconds * 1_000);
}

/**
 * The time of day, in UTC.
 * @param {number} ms since the epoch
 */
export function clockText(ms) {
  return new Date(ms).toISOString().slice(11, 19);
}

/**
 * An amount at list price: `$12.40`; below one dollar `$0.0042`; an amount that would round to nothing: `< $0.0001`.
 * @param {number} dollars
 */
export function dollarsText(dollars) {
  const known = Number.isFinite(dollars) ? Math.max(0, dollars) : 0;
  if (known > 0 && known < 0.00005) return '< $0.0001';
  return `$${known.toFixed(known > 0 && known < 1 ? 4 : 2)}`;
}
