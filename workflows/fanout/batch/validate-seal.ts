/** Validates the chunks of a batch and its seal. Pure. */
import type { ChunkRecord, SealRequest } from '../../../src/protocol/fanout/batch-parts.js';

type Place = Pick<ChunkRecord, 'chunk' | 'firstIndex' | 'items'>;

/**
 * Why the items of a chunk cannot have the submitted positions, or undefined if they can. Positions of two chunks must
 * not overlap.
 */
export function placeProblem(records: readonly Place[], added: Place): string | undefined {
  const ordered = [...records, added].sort((a, b) => a.chunk - b.chunk);
  for (const [at, record] of ordered.entries()) {
    const before = ordered[at - 1];
    const isNext = before ? before.chunk === record.chunk - 1 : record.chunk === 0;
    const end = before ? before.firstIndex + before.items : 0;
    if (isNext ? record.firstIndex === end : record.firstIndex >= end) continue;
    return `chunk ${record.chunk} begins at item ${record.firstIndex}, but the chunk before it ends at ${end}.`;
  }
  return undefined;
}

/** Why the batch cannot be sealed, or undefined if it can. */
export function sealProblem(records: readonly Place[], { chunks, items }: SealRequest): string | undefined {
  const known = new Map(records.map((record) => [record.chunk, record]));
  const missing = Array.from({ length: chunks }, (_, chunk) => chunk).filter((chunk) => !known.has(chunk));
  if (missing.length > 0)
    return `these chunks are missing: ${missing.slice(0, 20).join(', ')}. Submit them, then seal.`;
  const surplus = records.filter(({ chunk }) => chunk >= chunks).map(({ chunk }) => chunk);
  if (surplus.length > 0) return `there are chunks beyond the ${chunks} of the seal: ${surplus.join(', ')}.`;
  let next = 0;
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const record = known.get(chunk);
    if (record?.firstIndex !== next) return `chunk ${chunk} begins at item ${record?.firstIndex}, not at ${next}.`;
    next += record.items;
  }
  return next === items ? undefined : `the chunks hold ${next} items, not ${items}.`;
}
