/** The largest distance of a `Date` from the epoch, in ms. */
const lastMs = 8.64e15;

/** Tells whether a `Date` can hold a moment, in ms since the epoch. For any other moment, `toISOString` throws. */
export function isDate(ms: number): boolean {
  return Math.abs(ms) <= lastMs;
}
