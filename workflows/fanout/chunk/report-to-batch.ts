/** Reports the progress of a chunk to the batch: urgent changes soon, others at a limited rate. */
import { condition, getExternalWorkflowHandle, sleep } from '@temporalio/workflow';
import { jobWorkflowId } from '../../../src/contract/addresses.js';
import { chunkReportSignal } from '../../messages.js';
import type { ChunkReport } from '../protocol.js';
import { reportOf } from './report.js';
import type { ChunkState } from './state.js';

/** How many times more often than others urgent reports may be sent. */
const urgency = 5;

/**
 * Sends one report at a time. Urgent reports also keep a minimum interval, so that a busy chunk does not flood the batch.
 * @returns the last report, once the chunk has ended
 */
export async function reportToBatch(run: ChunkState): Promise<ChunkReport> {
  const { deployment, batchId, pace } = run.input;
  const batch = getExternalWorkflowHandle(jobWorkflowId(deployment, batchId));
  let told = 0;
  let toldUrgent = 0;
  let nextUrgentAtMs = 0;
  for (;;) {
    await condition(() => run.news !== told && (!run.isPausing || run.isOver));
    const isUrgent = () => run.urgent !== toldUrgent || run.isOver;
    if (!isUrgent()) await condition(isUrgent, pace.reportEveryMs, { summary: 'until the next report' });
    if (Date.now() < nextUrgentAtMs) await sleep(nextUrgentAtMs - Date.now(), { summary: 'until the next report' });
    if (run.isPausing && !run.isOver) continue;
    told = run.news;
    toldUrgent = run.urgent;
    nextUrgentAtMs = Date.now() + pace.reportEveryMs / urgency;
    const report = reportOf(run);
    try {
      await run.counting(() => batch.signal(chunkReportSignal, report));
    } catch {
      // The batch is gone. The items continue within the grants; a resumed batch asks for reports again.
    }
    if (report.hasEnded) return report;
  }
}
