/** Whether somebody has reset the run. */
import { workflowInfo } from '@temporalio/workflow';

/** A reset gives a run a new id and no memory of what the old one sent after the point of the reset. */
export function wasReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}
