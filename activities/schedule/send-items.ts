/** Sends the stored items of a scheduled batch to its workflow. */
import { ApplicationFailure, activityInfo, Context } from '@temporalio/activity';
import { SandflowError } from '../../src/errors/sandflow-error.js';
import type { ChunkSubmission } from '../../src/protocol/fanout/batch-parts.js';
import type { StoredItems } from '../../src/protocol/schedule.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { readStoredJson } from '../../src/result-store/stored-json.js';
import { sendItems } from '../../src/workflow-client/fanouts/submit-fanout.js';
import { withHeartbeat } from '../retry/attempt.js';

export interface SendScheduledItemsInput {
  readonly deployment: string;
  readonly batchId: string;
  /** Reference to the `StoredItems`. */
  readonly itemsRef: string;
}

/** How long missing items are looked for: a store may be away for a moment, such as a volume that is not mounted yet. */
const missingForMs = 30 * 60_000;

/**
 * Whether another attempt is useless: the batch accepts no other items.
 * @param waitedMs since the first attempt was scheduled
 */
export function isFinal(code: string, waitedMs: number): boolean {
  if (code === 'result_not_found') return waitedMs >= missingForMs;
  return code === 'result_of_other_version' || code === 'refused';
}

export function sendScheduledItemsActivity(results: ResultStore) {
  /** Safe to repeat: a chunk that the batch already has changes nothing. */
  return ({ itemsRef, ...batch }: SendScheduledItemsInput): Promise<void> =>
    withHeartbeat(async () => {
      try {
        const { chunks } = await readStoredJson<StoredItems>(results, itemsRef);
        await sendItems(Context.current().client, batch, readChunks(results, chunks));
      } catch (error) {
        if (!(error instanceof SandflowError)) throw error;
        if (!isFinal(error.code, Date.now() - activityInfo().scheduledTimestampMs)) throw error;
        throw ApplicationFailure.nonRetryable(error.message, error.code);
      }
    });
}

async function* readChunks(results: ResultStore, refs: readonly string[]): AsyncGenerator<ChunkSubmission> {
  for (const ref of refs) yield await readStoredJson<ChunkSubmission>(results, ref);
}
