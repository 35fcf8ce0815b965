/** The latest and earliest moment of a `Date`, in ms from the epoch. */
const lastMs = 8.64e15;

/** Whether a `Date` can hold this moment, in ms since the epoch: `toISOString` of any other throws. */
export function isDate(ms: number): boolean {
  return Math.abs(ms) <= lastMs;
}
