/** When a workflow continues as new, and how a step of a job ends so that the job can do so. */
import { workflowInfo } from '@temporalio/workflow';

/** Thrown only where a new run can repeat whatever is in progress. Never leaves the workflow. */
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
