/** Maximum wait. Temporal refuses a timer of centuries, and the workflow would hang. */
const longestMs = 24 * 60 * 60 * 1_000;

/**
 * The wait that a `Retry-After` header requests.
 * @param header seconds, or an HTTP date
 * @param nowMs the present, in ms since the epoch
 * @returns ms from `nowMs`, never negative, and at most a day; null if the header is missing or has another format
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const value = header?.trim();
  if (!value) return null;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(longestMs, Math.ceil(Number(value) * 1000));
  // `Date.parse` accepts texts that are not HTTP dates, such as "-5". Every HTTP date begins with a weekday.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(longestMs, Math.max(0, atMs - nowMs));
}
