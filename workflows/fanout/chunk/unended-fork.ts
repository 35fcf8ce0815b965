/** Names the fork of an item whose workflow no longer ends it. Pure. */
import { executionOf, itemStep, ownedSandboxName } from '../../../src/addresses/addresses.js';
import type { ChunkInput } from '../../../src/protocol/fanout/batch-parts.js';
import type { LeftBehind } from '../../../src/protocol/job/job-result.js';

/** @param why one sentence: what is unknown or was not done */
export function unendedFork(
  { deployment, batchId, batchKey }: Pick<ChunkInput, 'deployment' | 'batchId' | 'batchKey'>,
  item: { readonly index: number; readonly generation: number; readonly sandboxId?: string | null },
  why: string,
): LeftBehind {
  const { index, generation, sandboxId = null } = item;
  const execution = executionOf(batchKey);
  const sandboxName = ownedSandboxName({ deployment, jobId: batchId, execution, step: itemStep(index), generation });
  return { kind: 'sandbox', sandboxId, sandboxName, conversationId: null, why };
}
