/** Ends a wait of a job because its history is long. */
import { workflowInfo } from '@temporalio/workflow';

/** Thrown only where a new run can repeat whatever is in progress. Never leaves the workflow. */
export class ContinueAsNewRequest extends Error {
  override readonly name = 'ContinueAsNewRequest';
}

/** @param maxEvents limit of the history, in events. Default: when Temporal suggests it */
export function hasLongHistory(maxEvents: number | undefined): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (maxEvents ?? Number.POSITIVE_INFINITY);
}
