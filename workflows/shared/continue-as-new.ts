/** When a workflow continues as new, and how a step of a job ends for it. */
import { workflowInfo } from '@temporalio/workflow';

/** Thrown only where a new run can repeat whatever is in progress. Never leaves the workflow. */
export class ContinueAsNewRequest extends Error {
  override readonly name = 'ContinueAsNewRequest';
}

/** @param maxEvents limit of the history, in events. Without one: when Temporal suggests it */
export function hasLongHistory(maxEvents: number | null | undefined): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (maxEvents ?? Number.POSITIVE_INFINITY);
}
