import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { createThenPrompt } from '../../../workflows/index.js';
import type { Stand } from '../workflow-harness.js';

type Job = WorkflowHandle<typeof createThenPrompt>;

/** Resets a job to the beginning of its current run, which is terminated. @returns the next run */
export async function resetToBeginning({ client }: Pick<Stand, 'client'>, job: Job): Promise<Job> {
  const { events } = await job.fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: job.workflowId },
    workflowTaskFinishEventId: firstTask?.eventId,
    reason: 'test',
    requestId: randomUUID(),
  });
  return client.workflow.getHandle<typeof createThenPrompt>(job.workflowId, runId);
}
