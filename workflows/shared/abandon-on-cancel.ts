/** Reads that are not cancelled: after a cancel, the workflow no longer waits for them. */
import { CancellationScope, condition } from '@temporalio/workflow';

/** Reads of this workflow that have not ended. */
const underWay = new Set<CancellationScope>();

/**
 * Runs a read, and stops waiting for it if the current scope is cancelled. Only runs with local activities need this.
 * If one workflow task both delivers the result of a local activity and cancels it, the task fails for good ("invalid
 * transition in state machine").
 */
export function abandonOnCancel<T>(read: () => Promise<T>): Promise<T> {
  const { reading, scope } = detached(read);
  underWay.add(scope);
  const over = () => void underWay.delete(scope);
  reading.then(over, over);
  return Promise.race([CancellationScope.current().cancelRequested, reading]);
}

function detached<T>(read: () => Promise<T>): { readonly reading: Promise<T>; readonly scope: CancellationScope } {
  let scope: CancellationScope | undefined;
  const reading = CancellationScope.nonCancellable(() => {
    scope = new CancellationScope();
    return scope.run(read);
  });
  if (!scope) throw new RangeError('The scope did not run at once');
  return { reading, scope };
}

/**
 * Runs a whole workflow, and waits for all its reads before it ends. Temporal does not accept the end of a workflow
 * while local activities run, and would retry the task forever.
 */
export async function endingReads<T>(workflow: () => Promise<T>): Promise<T> {
  try {
    return await workflow();
  } finally {
    for (const scope of underWay) scope.cancel();
    if (underWay.size > 0) await CancellationScope.nonCancellable(() => condition(() => underWay.size === 0));
  }
}
