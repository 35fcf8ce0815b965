/** Whether somebody has reset this very run; `JobState.wasReset` knows of earlier runs of the chain, too. */
import { workflowInfo } from '@temporalio/workflow';

/** A reset gives a run a new id and no memory of what the old one sent after the point of the reset. */
export function isResetRun(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}
