/** How a job leaves a wait because its history has become long. */
import { workflowInfo } from '@temporalio/workflow';

/** Thrown where nothing is under way that a new run could not begin again; never leaves the workflow. */
export class ContinueAsNewRequest extends Error {
  override readonly name = 'ContinueAsNewRequest';
}

/** @param maxEvents undefined: when Temporal suggests it */
export function hasLongHistory(maxEvents: number | undefined): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (maxEvents ?? Number.POSITIVE_INFINITY);
}
