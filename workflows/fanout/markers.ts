/** The markers of batches and chunks: what the workers that began a run already knew. */
import { inWorkflowContext, patched } from '@temporalio/workflow';

/** False while a run repeats what workers did that knew less. */
function knows(marker: string): boolean {
  // What runs outside of a workflow, as in a unit test, replays nothing.
  return !inWorkflowContext() || patched(marker);
}

/** True if the run decides by the class of a failure. */
export const knowsClasses = () => knows('failure-classes');
/** True if the run can be held. Commands may ask for it before the workers know of it. */
export const knowsHolds = () => knows('held-batches');
/** True if the loss of a source concerns only its own items. */
export const knowsLosses = () => knows('lost-sources');
