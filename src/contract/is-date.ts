/** A `Date` reaches this far from the epoch, into the past and into the future, in ms. */
const lastMs = 8.64e15;

/** Tells whether a `Date` can hold a moment, in ms since the epoch. For any other moment, `toISOString` throws. */
export function isDate(ms: number): boolean {
  return Math.abs(ms) <= lastMs;
}
