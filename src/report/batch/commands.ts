/** Commands that follow the report of a batch. */
import type { FanoutReportData } from '../page-data.js';
import { type FollowUp, isPlainId } from './sections/commands.js';

const stopsShown = 3;

export function batchCommands({ result }: Pick<FanoutReportData, 'result'>): FollowUp[] {
  const { batchId, counts, outcome } = result;
  if (!isPlainId(batchId)) return [];
  const left = 'leftSandboxIds' in result ? result.leftSandboxIds.filter(isPlainId).slice(0, stopsShown) : [];
  if (outcome === null) {
    return [
      { does: 'Watch it, and save its results', command: `sandflow fanout watch ${batchId}` },
      { does: 'Write this report again', command: `sandflow fanout report ${batchId}` },
      { does: 'Cancel it', command: `sandflow fanout cancel ${batchId}` },
    ];
  }
  if (counts.items === 0) return [];
  return [
    ...(counts.completed < counts.items
      ? [{ does: 'Run what did not complete', command: `sandflow fanout resume ${batchId}` }]
      : []),
    ...left.map((id) => ({ does: 'Stop what was left', command: `sandflow stop ${id} --wait` })),
    { does: 'Save results and files', command: `sandflow fanout watch ${batchId}` },
    { does: 'Print every result', command: `sandflow fanout results ${batchId}` },
  ];
}
