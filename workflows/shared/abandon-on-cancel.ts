/** Reads that their waiters may leave. */
import { CancellationScope, condition } from '@temporalio/workflow';

/** Those of this workflow that have not come to their end. */
const underWay = new Set<CancellationScope>();

/**
 * Runs a local activity that is left behind, not cancelled, when the current scope is cancelled: one that is cancelled
 * in the very task that brings its result fails that task for good ("invalid transition in state machine").
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
  if (!scope) throw new RangeError('A scope runs at once');
  return { reading, scope };
}

/**
 * Runs a whole workflow. What it has left behind is over when it ends: Temporal takes no end of a workflow whose local
 * activities still run, and would ask for it again and again.
 */
export async function endingReads<T>(workflow: () => Promise<T>): Promise<T> {
  try {
    return await workflow();
  } finally {
    for (const scope of underWay) scope.cancel();
    if (underWay.size > 0) await CancellationScope.nonCancellable(() => condition(() => underWay.size === 0));
  }
}
