/** Sends the stored items of a scheduled batch to its workflow. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { SandflowError } from '../../src/contract/workflow-safe/sandflow-error.js';
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

/** Another attempt cannot find what is missing, and the batch accepts no other items. */
const finalCodes: ReadonlySet<string> = new Set(['result_not_found', 'result_of_other_version', 'refused']);

export function sendScheduledItemsActivity(results: ResultStore) {
  /** Safe to repeat: a chunk that the batch already has changes nothing. */
  return ({ itemsRef, ...batch }: SendScheduledItemsInput): Promise<void> =>
    withHeartbeat(async () => {
      try {
        const { chunks } = await readStoredJson<StoredItems>(results, itemsRef);
        await sendItems(Context.current().client, batch, readChunks(results, chunks));
      } catch (error) {
        if (!(error instanceof SandflowError) || !finalCodes.has(error.code)) throw error;
        throw ApplicationFailure.nonRetryable(error.message, error.code);
      }
    });
}

async function* readChunks(results: ResultStore, refs: readonly string[]): AsyncGenerator<ChunkSubmission> {
  for (const ref of refs) yield await readStoredJson<ChunkSubmission>(results, ref);
}
