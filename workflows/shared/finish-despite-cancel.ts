/** Lets a call finish despite a cancel, so that its outcome is known. */
import { CancellationScope, CancelledFailure, patched, sleep } from '@temporalio/workflow';
import type { JobState } from '../job/state.js';
import { serviceFailureOf } from '../job/termination.js';

/**
 * Lets the call that creates the sandbox `name` finish even after a cancel. Abandons it only once the cleanup time is
 * over. Starts no call after a cancel. While it is unknown whether the sandbox was created, `run.unconfirmedName` holds
 * its name.
 * @throws CancelledFailure, or the error of the call
 */
export async function finishDespiteCancel<T>(run: JobState, name: string, make: () => Promise<T>): Promise<T> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure(`"${name}" was not created`);
  run.unconfirmedName = name;
  try {
    const making = CancellationScope.nonCancellable(make);
    const made = await untilGivenUp(run, making, { share: 1, summary: `until the create of ${name} is abandoned` });
    run.unconfirmedName = null;
    return made;
  } catch (error) {
    if (isCertainlyNotMade(error)) {
      run.unconfirmedName = null;
      run.firstSentAtMs = null;
    }
    throw error;
  }
}

/** Share of the cleanup time for a prompt in flight; the rest is for interrupts, files and the end of the sandbox. */
const shareOfPrompt = 1 / 4;

/**
 * Waits for a prompt in flight even after a cancel, so that its outcome is known. After the cancel, waits at most for a
 * share of the cleanup time.
 */
export async function forShareOfCleanUp<T>(run: JobState, sending: Promise<T>): Promise<T> {
  const summary = 'until the running prompt call is abandoned';
  const mayGiveUp = () => patched('prompt under way is given up');
  return untilGivenUp(run, sending, { share: shareOfPrompt, summary, mayGiveUp });
}

interface GivingUp {
  /** The call's share of the cleanup time that is left at the cancel, from 0 to 1. */
  readonly share: number;
  readonly summary: string;
  /**
   * Called at a cancel that arrives before the call has ended; false means that the call is never abandoned. Default:
   * true.
   */
  readonly mayGiveUp?: () => boolean;
}

/** @throws the cancellation of the current scope, if the call does not end within its share of the time */
async function untilGivenUp<T>(
  run: JobState,
  call: Promise<T>,
  { share, summary, mayGiveUp = () => true }: GivingUp,
): Promise<T> {
  let known = false;
  const givenUp = CancellationScope.current().cancelRequested.catch(async (cancelled: unknown) => {
    if (known || !mayGiveUp()) return call;
    const leftMs = (run.beginCleanUp() - Date.now()) * share;
    await CancellationScope.nonCancellable(() => sleep(Math.max(1, Math.round(leftMs)), { summary }));
    throw cancelled;
  });
  try {
    return await Promise.race([call, givenUp]);
  } finally {
    known = true;
  }
}

/**
 * True if the service refused the call, and no earlier attempt can have been accepted. A refused search for the name
 * does not show what an earlier run has created.
 */
function isCertainlyNotMade(error: unknown): boolean {
  const failure = serviceFailureOf(error);
  if (failure === undefined || failure.status === null) return false;
  return failure.maybeSent !== true && failure.endpoint !== searching;
}

/** The endpoint with which a run that follows another one looks for its sandbox by name. */
const searching = 'listSandboxes';
