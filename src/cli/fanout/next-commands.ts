/** The next commands for a batch, one a line: a terminal would break a line of several inside a word. */
import type { FanoutResult } from '../../protocol/fanout/fanout-result.js';
import { pasteable } from '../output/pasteable.js';
import { programName } from '../program-name.js';

export function nextWhileBatchRuns(batchId: string): string[] {
  return nextLines(['watch', 'show', 'cancel'].map((name) => `${name} ${batchId}`));
}

const goneCodes: ReadonlySet<string> = new Set(['not_found', 'sandbox_not_found', 'snapshot_data_expired']);

/** @param failed an item that failed, if one did */
export function nextAfterBatch(
  { batchId, outcome, error, counts }: Pick<FanoutResult, 'batchId' | 'outcome' | 'error' | 'counts'>,
  failed: string | undefined,
): string[] {
  if (outcome === 'source_failed' && goneCodes.has(error?.code ?? '')) {
    return [
      `If the batch prepared its source, \`${programName} fanout resume ${batchId}\` prepares it again. Otherwise start a new batch with another --source or --snapshot.`,
    ];
  }
  const again = counts.items > counts.completed && outcome !== 'completed';
  const look = failed === undefined ? `results ${batchId}` : `logs ${batchId} ${pasteable(failed, 'ITEM')}`;
  return nextLines([look, ...(again ? [`resume ${batchId}`] : [])]);
}

function nextLines(commands: readonly string[]): string[] {
  return commands.map((command, at) => `${at === 0 ? 'next:' : '     '} ${programName} fanout ${command}`);
}
