/** A read that its waiter may leave. */
import { CancellationScope } from '@temporalio/workflow';

/**
 * Runs a local activity that is left behind, not cancelled, when the current scope is cancelled: one that is cancelled
 * in the very task that brings its result fails that task for good ("invalid transition in state machine").
 */
export function leavable<T>(read: () => Promise<T>): Promise<T> {
  return Promise.race([CancellationScope.current().cancelRequested, CancellationScope.nonCancellable(read)]);
}
