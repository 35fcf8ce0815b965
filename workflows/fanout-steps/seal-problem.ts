/** Whether a batch has all the items that its submitter says it has. Pure. */
import type { ChunkRecord, SealWish } from '../fanout-parts.js';

/** Why the batch cannot be sealed, or undefined where it can. */
export function sealProblem(
  records: readonly Pick<ChunkRecord, 'chunk' | 'firstIndex' | 'items'>[],
  { chunks, items }: SealWish,
): string | undefined {
  const known = new Map(records.map((record) => [record.chunk, record]));
  const missing = Array.from({ length: chunks }, (_, chunk) => chunk).filter((chunk) => !known.has(chunk));
  if (missing.length > 0)
    return `these chunks are missing: ${missing.slice(0, 20).join(', ')}. Submit them, then seal.`;
  const surplus = records.filter(({ chunk }) => chunk >= chunks).map(({ chunk }) => chunk);
  if (surplus.length > 0) return `there are chunks beyond the ${chunks} that it is to have: ${surplus.join(', ')}.`;
  let next = 0;
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const record = known.get(chunk);
    if (record?.firstIndex !== next) return `chunk ${chunk} begins at item ${record?.firstIndex}, not at ${next}.`;
    next += record.items;
  }
  return next === items ? undefined : `the chunks hold ${next} items, not ${items}.`;
}
