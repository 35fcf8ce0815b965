/** Measures the histories that Temporal keeps of workflows. */
import type { WorkflowHandle } from '@temporalio/client';
import { inParallel } from './plain-job.js';
import { median } from './quantiles.js';

export interface HistorySize {
  /** Medians over the workflows. */
  readonly workflowTasks: number;
  readonly events: number;
  /**
   * The mean number of workflow tasks that timed out, mostly because their worker was too busy to take them in time.
   */
  readonly timedOutTasks: number;
}

const sampleSize = 50;

export async function historySize(handles: readonly Pick<WorkflowHandle, 'fetchHistory'>[]): Promise<HistorySize> {
  const workflowTasks: number[] = [];
  const events: number[] = [];
  let timedOut = 0;
  const sample = handles.slice(0, sampleSize);
  await inParallel(sample.length, 5, async (index) => {
    const history = (await sample[index]?.fetchHistory())?.events ?? [];
    events.push(history.length);
    timedOut += history.filter((event) => event.workflowTaskTimedOutEventAttributes).length;
    workflowTasks.push(history.filter((event) => event.workflowTaskCompletedEventAttributes).length);
  });
  return { workflowTasks: median(workflowTasks), events: median(events), timedOutTasks: timedOut / sample.length };
}
