/** Lets a call finish despite a cancel, so that its outcome is known. */
import { CancellationScope, CancelledFailure, condition } from '@temporalio/workflow';
import { serviceFailureOf } from '../shared/job-termination.js';
import type { JobState } from './job-state.js';

/**
 * After a cancel, lets the call that creates the sandbox `name` finish. Gives it up only when the cleanup time is over.
 * Does not start a call after a cancel. While it is unknown whether the sandbox was created, `carried.unconfirmedName`
 * contains its name.
 * @throws CancelledFailure, or the error of the call
 */
export async function finishDespiteCancel<T>(job: JobState, name: string, make: () => Promise<T>): Promise<T> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure(`"${name}" was not created`);
  // Then the refusal of a later call proves nothing.
  const mayExist = job.carried.unconfirmedName === name;
  job.carried.unconfirmedName = name;
  try {
    const making = CancellationScope.nonCancellable(make);
    const made = await untilGivenUp(job, making, { share: 1, summary: `until the create of ${name} is abandoned` });
    job.carried.unconfirmedName = null;
    return made;
  } catch (error) {
    if (!mayExist && isCertainlyNotMade(error)) {
      job.carried.unconfirmedName = null;
      job.carried.firstSentAtMs = null;
    }
    throw error;
  }
}

/**
 * Fraction of the cleanup time for a prompt that is being sent. The rest is for interrupts, files and the end of the
 * sandbox.
 */
const shareOfPrompt = 1 / 4;

/**
 * Even after a cancel, waits for a prompt that is being sent, so that its outcome is known. This wait takes at most a
 * fraction of the cleanup time.
 * @param isKnown true once the outcome is known otherwise
 */
export async function forShareOfCleanUp<T>(job: JobState, sending: Promise<T>, isKnown: () => boolean): Promise<T> {
  const summary = 'until the running prompt call is abandoned';
  return untilGivenUp(job, sending, { share: shareOfPrompt, summary, isKnown });
}

/**
 * @param giving.share the fraction of the remaining cleanup time that the call may use after a cancel, from 0 to 1
 * @param giving.isKnown ends the wait if it returns true. Default: never
 * @throws the cancellation of the current scope, if the call does not end within its share of the time
 */
async function untilGivenUp<T>(
  job: JobState,
  call: Promise<T>,
  giving: { readonly share: number; readonly summary: string; readonly isKnown?: () => boolean },
): Promise<T> {
  const { share, summary, isKnown = () => false } = giving;
  let known = false;
  const givenUp = CancellationScope.current().cancelRequested.catch(async (cancelled: unknown) => {
    if (known) return call;
    const ms = Math.max(1, Math.round((job.beginCleanUp() - Date.now()) * share));
    await CancellationScope.nonCancellable(() => condition(isKnown, ms, { summary }));
    throw cancelled;
  });
  try {
    return await Promise.race([call, givenUp]);
  } finally {
    known = true;
  }
}

/**
 * True if the service refused the call, and no earlier attempt can have been accepted. If the search by name was
 * refused, it remains unknown whether an earlier run created the sandbox.
 */
function isCertainlyNotMade(error: unknown): boolean {
  const failure = serviceFailureOf(error);
  if (failure === undefined || failure.status === null) return false;
  return failure.maybeSent !== true && failure.endpoint !== searching;
}

/** The endpoint by which a later run searches for its sandbox by name. */
const searching = 'listSandboxes';
