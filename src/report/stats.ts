/** Statistics of a batch. */

/**
 * The smallest value that at least the share `q` of all values do not exceed (nearest rank).
 * @param q 0 to 1
 * @returns null if there are no values
 */
export function quantile(values: readonly number[], q: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;
}

/** Steps of a scale that are easy to read, in ms. */
const niceSteps = [
  1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400,
].map((seconds) => seconds * 1_000);

/** The smallest easily read step, in ms, that divides `spanMs` into at most `most` parts. */
export function niceStep(spanMs: number, most: number): number {
  const nice = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...niceSteps].find((step) => spanMs / step <= most);
  return nice ?? Math.ceil(spanMs / most / 86_400_000) * 86_400_000;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
