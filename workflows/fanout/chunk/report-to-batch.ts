/** Tells the batch how far a chunk is: soon what is urgent, the rest at most once in a while. */
import { condition, getExternalWorkflowHandle, sleep } from '@temporalio/workflow';
import { jobWorkflowId } from '../../../src/contract/addresses.js';
import { chunkReportSignal } from '../../messages.js';
import type { ChunkReport } from '../protocol.js';
import { reportOf } from './report.js';
import type { ChunkState } from './state.js';

/** Urgent reports come so many times as often as others at most. */
const urgency = 5;

/**
 * One report is on its way at a time, and what is urgent waits until the last one is some time ago: so a chunk that hears
 * much does not tell much.
 * @returns the last one, when the chunk is over
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
      // The batch is gone. The items go on with what was granted; whoever resumes the batch asks again.
    }
    if (report.hasEnded) return report;
  }
}
