/** Reports the progress of a chunk to the batch: urgent changes soon, other changes at a limited rate. */
import { condition, getExternalWorkflowHandle, sleep } from '@temporalio/workflow';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import type { ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import { chunkReportSignal } from '../../../src/protocol/messages.js';
import { bulk } from '../../shared/proxies.js';
import type { ChunkState } from './chunk-state.js';
import { reportOf } from './report.js';

/** Urgent reports may be sent this many times as often as other reports. */
const urgency = 5;

/**
 * Sends one report at a time. There is also a minimum interval between urgent reports, so that a busy chunk does not
 * overload the batch.
 * @returns the last report, once the chunk has ended
 */
export async function reportToBatch(chunk: ChunkState): Promise<ChunkReport> {
  const { deployment, batchId, pace } = chunk.input;
  const batch = getExternalWorkflowHandle(jobWorkflowId(deployment, batchId));
  let reported = 0;
  let reportedUrgent = 0;
  let nextUrgentAtMs = 0;
  for (;;) {
    await condition(() => chunk.changes !== reported && (!chunk.isPausing || chunk.isOver));
    const isUrgent = () => chunk.urgentChanges !== reportedUrgent || chunk.hasRunAll;
    if (!isUrgent()) await condition(isUrgent, pace.reportEveryMs, { summary: 'until the next report' });
    if (Date.now() < nextUrgentAtMs) await sleep(nextUrgentAtMs - Date.now(), { summary: 'until the next report' });
    if (chunk.isPausing && !chunk.isOver) continue;
    reported = chunk.changes;
    reportedUrgent = chunk.urgentChanges;
    void addEndings(chunk);
    // The last report follows when they are written.
    if (chunk.hasRunAll && !chunk.isOver) continue;
    nextUrgentAtMs = Date.now() + pace.reportEveryMs / urgency;
    const report = reportOf(chunk);
    try {
      await chunk.counting(() => batch.signal(chunkReportSignal, report));
    } catch {
      // The batch has ended. The items continue within the existing grants. If the batch is resumed, it requests
      // reports again.
    }
    if (report.hasEnded) return report;
  }
}

/** Writes all endings that are known, unless a write is under way. The next run repeats what this one has not confirmed. */
async function addEndings(chunk: ChunkState): Promise<void> {
  const { endings } = chunk.carried;
  const written = endings.length;
  if (chunk.isAddingEndings || written === 0) return;
  chunk.isAddingEndings = true;
  try {
    await bulk.addItemEndings.executeWithOptions({ summary: `ends of ${written} items` }, [[...endings]]);
  } catch {
    // The results lack how their forks ended. A resume of the batch would end these again.
  }
  chunk.isAddingEndings = false;
  endings.splice(0, written);
  if (chunk.hasRunAll) chunk.noteChange('now');
}
