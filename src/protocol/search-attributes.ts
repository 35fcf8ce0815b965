/**
 * Temporal's search attributes, by which lists filter: ids and fixed words, because Temporal does not encrypt them. Only a
 * workflow that was started with one has them: a namespace without them refuses every workflow task that writes one.
 */
export const searchAttributes = {
  /** Of the batch, its chunks and its items. */
  batch: { name: 'SandflowBatch', type: 'KEYWORD' },
  /** `open` before the end. */
  outcome: { name: 'SandflowOutcome', type: 'KEYWORD' },
  sandbox: { name: 'SandflowSandbox', type: 'KEYWORD' },
  /** The reason as one word. */
  blocked: { name: 'SandflowBlocked', type: 'KEYWORD' },
} as const;

/** What a job, an item or a batch starts with. */
export function openAttributes(batch?: string) {
  const open = { key: searchAttributes.outcome, value: 'open' };
  return batch === undefined ? [open] : [{ key: searchAttributes.batch, value: batch }, open];
}
