/** @returns a time of Temporal's API as an ISO 8601 time; null if it is not set */
export function isoTime(time: { readonly seconds?: unknown } | null | undefined): string | null {
  const seconds = Number(time?.seconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1_000).toISOString() : null;
}
