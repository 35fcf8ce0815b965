/** Tells the batch how far a chunk is: at once what is urgent, the rest at most once in a while. */
import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import { jobWorkflowId } from '../../src/contract/addresses.js';
import type { ChunkReport } from '../fanout-parts.js';
import { chunkReportSignal } from '../messages.js';
import { reportOf } from './chunk-report.js';
import type { ChunkRun } from './chunk-run.js';

/**
 * One report is on its way at a time, so that there is never more than one for each item that starts or ends.
 * @returns the last one, when the chunk is over
 */
export async function reportFaithfully(run: ChunkRun): Promise<ChunkReport> {
  const { deployment, batchId, pace } = run.input;
  const batch = getExternalWorkflowHandle(jobWorkflowId(deployment, batchId));
  let told = 0;
  let toldUrgent = 0;
  for (;;) {
    await condition(() => run.news !== told);
    const isUrgent = () => run.urgent !== toldUrgent || run.isOver;
    if (!isUrgent()) await condition(isUrgent, pace.reportEveryMs, { summary: 'until the next report' });
    told = run.news;
    toldUrgent = run.urgent;
    const report = reportOf(run);
    try {
      await batch.signal(chunkReportSignal, report);
    } catch {
      // The batch is gone. The items go on with what was granted; whoever resumes the batch asks again.
    }
    if (report.hasEnded) return report;
  }
}
