/** Sees a call to its end through a cancel, where it would leave behind what nobody knows. */
import { CancellationScope, CancelledFailure, sleep } from '@temporalio/workflow';
import { serviceFailureOf } from './job-ended.js';
import type { JobRun } from './job-run.js';

/**
 * Runs the call that makes `name` to its end also through a cancel, and gives it up when the end does not come within the
 * time for cleaning up. Nothing is begun after a cancel. While it is not known whether something was made, the run holds its
 * name.
 */
export async function throughCancel<T>(run: JobRun, name: string, make: () => Promise<T>): Promise<T> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure(`"${name}" was not made`);
  let known = false;
  const givenUp = scope.cancelRequested.catch(async (cancelled: unknown) => {
    if (known) return undefined as never;
    const endsAtMs = run.beginCleanUp();
    const leftMs = Math.max(1, endsAtMs - Date.now());
    await CancellationScope.nonCancellable(() => sleep(leftMs, { summary: `until ${name} is given up` }));
    throw cancelled;
  });
  run.unconfirmedName = name;
  try {
    const made = await Promise.race([CancellationScope.nonCancellable(make), givenUp]);
    run.unconfirmedName = null;
    return made;
  } catch (error) {
    if (isCertainlyNotMade(error)) {
      run.unconfirmedName = null;
      run.firstSentAtMs = null;
    }
    throw error;
  } finally {
    known = true;
  }
}

/** The service refused it, and no earlier attempt can have been accepted. */
function isCertainlyNotMade(error: unknown): boolean {
  const failure = serviceFailureOf(error);
  return failure !== undefined && failure.status !== null && failure.maybeSent !== true;
}
