/** Detects a reset of this run. `JobState.wasReset` also covers earlier runs of the chain. */
import { workflowInfo } from '@temporalio/workflow';

/** True if this run was reset: it has a new id, and no record of what the old run sent after the reset point. */
export function isResetRun(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}
