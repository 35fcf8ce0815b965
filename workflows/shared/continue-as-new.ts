/** Decides when a workflow continues as new. A step of a job throws `ContinueAsNewRequest` to let the job do so. */
import { workflowInfo } from '@temporalio/workflow';

/** Thrown only where a new run can repeat the current step. Never leaves the workflow. */
export class ContinueAsNewRequest extends Error {
  override readonly name = 'ContinueAsNewRequest';
}

/**
 * True once Temporal suggests to continue as new, or the history is too long.
 * @param maxEvents limit of the history, in events. Default: no limit
 */
export function hasLongHistory(maxEvents: number | null | undefined): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (maxEvents ?? Number.POSITIVE_INFINITY);
}
