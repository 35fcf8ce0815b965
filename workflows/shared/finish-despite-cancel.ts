/** Sees a call to its end through a cancel, where it would leave behind what nobody knows. */
import { CancellationScope, CancelledFailure, patched, sleep } from '@temporalio/workflow';
import type { JobState } from '../job/state.js';
import { serviceFailureOf } from '../job/termination.js';

/**
 * Runs the call that makes `name` to its end also through a cancel, and gives it up when the end does not come within the
 * time for cleaning up. Nothing is begun after a cancel. While it is not known whether something was made, the run holds its
 * name.
 */
export async function finishDespiteCancel<T>(run: JobState, name: string, make: () => Promise<T>): Promise<T> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure(`"${name}" was not made`);
  run.unconfirmedName = name;
  try {
    const making = CancellationScope.nonCancellable(make);
    const made = await untilGivenUp(run, making, { share: 1, summary: `until ${name} is given up` });
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

/** How much of the time for cleaning up a prompt under way may take: what is left is for interrupting, files and the end. */
const shareOfPrompt = 1 / 4;

/**
 * Waits for a prompt under way also after a cancel, since then it is known what became of it; for a share of the time for
 * cleaning up at most.
 */
export async function forShareOfCleanUp<T>(run: JobState, sending: Promise<T>): Promise<T> {
  const summary = 'until the prompt under way is given up';
  const mayGiveUp = () => patched('prompt under way is given up');
  return untilGivenUp(run, sending, { share: shareOfPrompt, summary, mayGiveUp });
}

interface GivingUp {
  /** Of the time for cleaning up that is left at the cancel. */
  readonly share: number;
  readonly summary: string;
  /** Asked at the cancel, where it matters. Default: it may. */
  readonly mayGiveUp?: () => boolean;
}

/** @throws the cancel of the current scope, when the call has not come to its end within the share of time */
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

/** The service refused it, and no earlier attempt can have been accepted. */
function isCertainlyNotMade(error: unknown): boolean {
  const failure = serviceFailureOf(error);
  return failure !== undefined && failure.status !== null && failure.maybeSent !== true;
}
