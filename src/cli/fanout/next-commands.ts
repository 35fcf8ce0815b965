/** The next commands for a batch, one a line: a terminal would break a line of several inside a word. */
import type { FanoutResult } from '../../protocol/fanout/fanout-result.js';
import { pasteable } from '../output/pasteable.js';
import { programName } from '../program-name.js';

/** @param get the values of `--get`: the next commands save the files where this one does */
export function nextWhileBatchRuns(batchId: string, get: readonly string[] = [], isHeld = false): string[] {
  const goOn = isHeld ? [`resume ${batchId}${placesOf(get)}`] : [];
  return nextLines([...goOn, `watch ${batchId}${placesOf(get)}`, `show ${batchId}`, `cancel ${batchId}`]);
}

/** @param get as above */
export function watchCommand(batchId: string, get: readonly string[]): string {
  return `${programName} fanout watch ${batchId}${placesOf(get)}`;
}

/** Without a local path, every command saves a file at the same place. */
function placesOf(get: readonly string[]): string {
  const isPlain = (one: string) => one.split(':').every((part) => pasteable(part, 'PATH') === part);
  const named = get.filter((one) => one.includes(':'));
  return named.map((one) => ` --get ${isPlain(one) ? one : 'REMOTE:LOCAL'}`).join('');
}

const goneCodes: ReadonlySet<string> = new Set(['not_found', 'sandbox_not_found', 'snapshot_data_expired']);

/**
 * @param failed an item that failed, if one did
 * @param get as above
 */
export function nextAfterBatch(
  { batchId, outcome, error, counts }: Pick<FanoutResult, 'batchId' | 'outcome' | 'error' | 'counts'>,
  failed: string | undefined,
  get: readonly string[] = [],
): string[] {
  if (outcome === 'source_failed' && goneCodes.has(error?.code ?? '')) {
    return [
      `If the batch prepared its source, \`${programName} fanout resume ${batchId}${placesOf(get)}\` prepares it again. Otherwise start a new batch with another --source or --snapshot.`,
    ];
  }
  const again = counts.items > counts.completed && outcome !== 'completed';
  const look = failed === undefined ? `results ${batchId}` : `logs ${batchId} ${pasteable(failed, 'ITEM')}`;
  return nextLines([look, ...(again ? [`resume ${batchId}${placesOf(get)}`] : [])]);
}

function nextLines(commands: readonly string[]): string[] {
  return commands.map((command, at) => `${at === 0 ? 'next:' : '     '} ${programName} fanout ${command}`);
}
