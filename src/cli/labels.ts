/** Reads `--label name=value`. */
import { UsageError } from './usage-error.js';

/** @throws UsageError if a pair has no name or no `=` */
export function parseLabelPairs(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`--label: "${pair}" is not a label. Use name=value, like team=search.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
