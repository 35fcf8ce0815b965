/** The failed tasks of a workflow. */
import type { WorkflowHandle } from '@temporalio/client';

/** Task failures that the workflow's code does not cause: a new event during the task, an evicted cache, a slow worker. */
const harmlessCauses: readonly number[] = [
  1, // unhandled command: something arrived while the task was completed
  13, // reset of the sticky queue
  17, // a reset or a termination closed the run while its task was under way
  20, // reset of the workflow
];

/** Each failed task of a run: the number of its cause, and the message. */
export async function failedTasks(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => {
    if (!failed || harmlessCauses.includes(Number(failed.cause))) return [];
    return [`${failed.cause}: ${failed.failure?.message}`];
  });
}
