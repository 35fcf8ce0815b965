/** Deadlines of calls that transfer files, long enough for slow connections. Pure. */

/** What the slowest line that is put up with carries, in bytes per ms: 1 Mbit/s. */
const slowestRate = 125;
/** The client's own deadline is enough for less than this, in bytes. */
const usualBytes = 1_000_000;
const usualMs = 30_000;
const longestMs = 480_000;

/** Deadline of a call that sends `bytes` bytes, in ms; undefined: the client's default. */
export function timeToSend(bytes: number): number | undefined {
  return bytes <= usualBytes ? undefined : usualMs + Math.ceil(bytes / slowestRate);
}

/** Deadline of a call whose answer may be of any size: the client's own at first, then longer each time, up to 8 minutes. */
export function timeToReceive(attempt: number): number | undefined {
  return attempt <= 1 ? undefined : Math.min(longestMs, usualMs * 2 ** (attempt - 1));
}
