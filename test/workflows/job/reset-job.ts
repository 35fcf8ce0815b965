import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { createThenPrompt } from '../../../workflows/index.js';
import type { Stand } from '../workflow-harness.js';

type Job = WorkflowHandle<typeof createThenPrompt>;

type Task = 'first' | 'last';

/** Resets a job to the beginning of its current run, which is terminated. @returns the next run */
export const resetToBeginning = (stand: Pick<Stand, 'client'>, job: Job): Promise<Job> => reset(stand, job, 'first');

/** Resets a job to the last workflow task of its current run, which is terminated. @returns the next run */
export const resetToLastTask = (stand: Pick<Stand, 'client'>, job: Job): Promise<Job> => reset(stand, job, 'last');

async function reset({ client }: Pick<Stand, 'client'>, job: Job, task: Task): Promise<Job> {
  const { events = [] } = await job.fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: job.workflowId },
    workflowTaskFinishEventId: tasks.at(task === 'first' ? 0 : -1)?.eventId,
    reason: 'test',
    requestId: randomUUID(),
  });
  return client.workflow.getHandle<typeof createThenPrompt>(job.workflowId, runId);
}
