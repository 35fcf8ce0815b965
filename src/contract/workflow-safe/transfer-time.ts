/** Deadlines of calls that transfer files, long enough for slow connections. Pure. */

/** The slowest connection for which the deadlines suffice, in bytes per ms: 1 Mbit/s. */
const slowestRate = 125;
/** Up to this size, in bytes, the client's own deadline is enough. */
const usualBytes = 1_000_000;
const usualMs = 30_000;
const longestMs = 480_000;

/** The deadline of a call that sends `bytes` bytes, in ms. Undefined means the client's default. */
export function timeToSend(bytes: number): number | undefined {
  return bytes <= usualBytes ? undefined : usualMs + Math.ceil(bytes / slowestRate);
}

/**
 * The deadline of a call whose answer may have any size, in ms. The first attempt has the client's default (undefined);
 * each further attempt has longer, up to 8 minutes.
 */
export function timeToReceive(attempt: number): number | undefined {
  return attempt <= 1 ? undefined : Math.min(longestMs, usualMs * 2 ** (attempt - 1));
}
