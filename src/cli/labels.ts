/** Reads `--label name=value`. */
import { labelsProblem } from '../workflow-client/labels.js';
import { UsageError } from './usage-error.js';

/** @throws UsageError if a pair has no name or no `=`, if a name occurs twice, or if a label is too long */
export function parseLabelPairs(pairs: readonly string[]): Readonly<Record<string, string>> {
  const labels = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--label: "${pair}" is not a label. Use name=value, like team=search.`);
    const name = pair.slice(0, at);
    if (labels.has(name)) throw new UsageError(`--label: ${name} occurs twice. Give each label once.`);
    labels.set(name, pair.slice(at + 1));
  }
  const problem = labelsProblem(Object.fromEntries(labels));
  if (problem !== undefined) throw new UsageError(`--label: ${problem}.`);
  return Object.fromEntries(labels);
}
