/** The next commands for a batch, as one line. */
import type { FanoutResult } from '../../protocol/fanout/fanout-result.js';
import { pasteable } from '../output/pasteable.js';

export function nextWhileBatchRuns(batchId: string): string {
  return `next: sandflow fanout watch ${batchId} · sandflow fanout show ${batchId} · sandflow fanout cancel ${batchId}`;
}

const goneCodes: ReadonlySet<string> = new Set(['not_found', 'sandbox_not_found', 'snapshot_data_expired']);

/** @param failed an item that failed, if one did */
export function nextAfterBatch(
  { batchId, outcome, error, counts }: Pick<FanoutResult, 'batchId' | 'outcome' | 'error' | 'counts'>,
  failed: string | undefined,
): string {
  if (outcome === 'source_failed' && goneCodes.has(error?.code ?? '')) {
    return `If the batch prepared its source, \`sandflow fanout resume ${batchId}\` prepares it again. Otherwise start a new batch with another --source or --snapshot.`;
  }
  const again = counts.items > counts.completed && outcome !== 'completed';
  const look = failed === undefined ? `results ${batchId}` : `logs ${batchId} ${pasteable(failed, 'ITEM')}`;
  return `next: ${[look, ...(again ? [`resume ${batchId}`] : [])].map((command) => `sandflow fanout ${command}`).join(' · ')}`;
}
