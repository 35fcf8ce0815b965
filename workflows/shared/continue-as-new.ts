/** Decides when a workflow continues as new. A step of a job throws `ContinueAsNewRequest` to let the job do so. */
import { makeContinueAsNewFunc, type Workflow, workflowInfo } from '@temporalio/workflow';

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

/** If the new version is refused, each run ends at once. */
const shortestRunMs = 60_000;

/**
 * True if a workflow without an end of its own must continue as new: its history is long, or workers of a new version
 * take the new workflows. Jobs and items stay with their version, because they end.
 * @param maxEvents limit of the history, in events. Default: no limit
 */
export function mustMoveOn(maxEvents: number | null | undefined): boolean {
  if (hasLongHistory(maxEvents)) return true;
  const { targetWorkerDeploymentVersionChanged, runStartTime } = workflowInfo();
  return targetWorkerDeploymentVersionChanged && Date.now() - runStartTime.getTime() >= shortestRunMs;
}

/** Lets the next run begin with the version that new workflows start with. */
export const toNewVersion = { initialVersioningBehavior: 'AUTO_UPGRADE' } as const;

/** Continues as new, with the version that new workflows start with. Never returns. */
export function moveOn<W extends Workflow>(...input: Parameters<W>): Promise<never> {
  return makeContinueAsNewFunc<W>(toNewVersion)(...input);
}
