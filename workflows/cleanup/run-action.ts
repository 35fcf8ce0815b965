/**
 * Runs one action of a cleanup. An activity checks the guards again and starts the action; then the workflow follows
 * the action to its end.
 */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { AppliedAction } from '../../activities/cleanup/guarded-action.js';
import type { ActionResult } from '../../src/protocol/cleanup.js';
import { effects } from '../shared/activity-options.js';
import type { InboxMark } from '../shared/event-inbox.js';
import { followDeletion } from '../shared/follow-deletion.js';
import { followStop, type StopEnd } from '../shared/follow-stop.js';
import { serviceFailureOf, toJobTermination } from '../shared/job-termination.js';
import { reads } from '../shared/reads.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { safetyPollMs } from '../shared/wait-intervals.js';
import { holdingClaim, receivingEvents } from '../watch/hold-claim.js';
import type { CleanupState } from './cleanup-state.js';
import { followEscalation, handOverIfFailing } from './escalate-stops.js';

export interface OneAction {
  readonly chunkRef: string;
  readonly index: number;
  /** Number of the action in the plan. */
  readonly number: number;
}

/**
 * Runs one action. Throws only if the whole cleanup is cancelled: failures are reported, and the next action follows.
 */
export async function runCleanupAction(cleanup: CleanupState, action: OneAction): Promise<ActionResult> {
  const begun: { sandboxId?: string } = {};
  const result = await runAction(cleanup, action, begun);
  return handOverIfFailing(cleanup, result, begun);
}

async function runAction(
  cleanup: CleanupState,
  { chunkRef, index, number }: OneAction,
  begun: { sandboxId?: string },
): Promise<ActionResult> {
  const nothing = { number, guard: null, operationId: null };
  let last: ActionResult = {
    ...nothing,
    outcome: 'failed',
    why: 'no attempt got an answer in time; the action may have taken effect',
  };
  // True while a call of the activity may have been accepted, and nothing is known of it.
  let isUnanswered = false;
  try {
    return await CancellationScope.withTimeout(cleanup.settings.actionDeadlineMs, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const since = cleanup.inbox.mark();
        const applied = await retryRefusals(cleanup, 'clean up', async () => {
          try {
            isUnanswered = !CancellationScope.current().consideredCancelled;
            const answer = await effects.applyCleanup({ chunkRef, index });
            isUnanswered = false;
            return answer;
          } catch (error) {
            isUnanswered &&= mayHaveActed(error);
            throw error;
          }
        });
        // The guard refused only because our failed deletion changed the sandbox. So this action counts as failed, not
        // as skipped.
        if (applied.did === 'skipped' && attempt > 1) return { ...last, why: `${last.why}; then ${applied.why}` };
        if (applied.did === 'skipped') return resultOf(applied, 'skipped', applied.why);
        if (applied.did === 'gone') return resultOf(applied, 'gone', 'there was nothing left to delete');
        if (applied.did === 'escalating') {
          last = resultOf(applied, 'escalating', null);
          return await followEscalation(cleanup, applied, (seen) => {
            last = seen;
          });
        }
        last = resultOf(applied, 'not_confirmed', 'the service accepted it, but did not finish it in time');
        if (applied.did === 'stopping') begun.sandboxId = applied.sandboxId;
        last = await holding(cleanup, applied, () =>
          applied.did === 'stopping' ? awaitStop(cleanup, applied, since) : awaitDeletion(cleanup, applied),
        );
        if (last.outcome !== 'failed' || applied.did === 'stopping') return last;
        if (attempt >= cleanup.settings.deletionAttempts) return last;
        await sleep(safetyPollMs(cleanup.timing, attempt - 1), { summary: 'until the deletion is tried again' });
      }
    });
  } catch (error) {
    const isBegun = last.outcome === 'not_confirmed' || last.outcome === 'escalating';
    if (!isCancellation(error)) {
      const { message } = toJobTermination(error).jobError;
      if (isBegun) return { ...last, why: `the service accepted it; then: ${message}` };
      return { ...last, outcome: 'failed', why: message };
    }
    if (!CancellationScope.current().consideredCancelled || isBegun) return last;
    if (!isUnanswered) throw error;
    const why = 'the cleanup was cancelled during the action, which may have taken effect';
    return { ...nothing, outcome: 'not_confirmed', why };
  }
}

/** A cancel between two attempts hides why the earlier one failed. */
function mayHaveActed(error: unknown): boolean {
  if (isCancellation(error)) return true;
  const failure = serviceFailureOf(error);
  return failure !== undefined && (failure.maybeSent === true || failure.status === null || failure.status >= 500);
}

function resultOf({ number, guard, operationId }: AppliedAction, outcome: ActionResult['outcome'], why: string | null) {
  return { number, outcome, guard, why, operationId };
}

/** Until a deletion has ended, the claim prevents new leases. */
function holding<T>(cleanup: CleanupState, applied: AppliedAction, act: () => Promise<T>): Promise<T> {
  const { sandboxId, claim, did } = applied;
  if (claim === null) return act();
  return did === 'stopping'
    ? receivingEvents(sandboxId, claim, act, cleanup)
    : holdingClaim(sandboxId, claim, act, cleanup);
}

/** Only the record of this stop confirms its end. The state of the sandbox may belong to an earlier stop. */
async function awaitStop(cleanup: CleanupState, applied: AppliedAction, since: InboxMark): Promise<ActionResult> {
  const { sandboxId, operationId } = applied;
  if (operationId === null) return resultOf(applied, 'not_confirmed', 'the service returned no id for the stop');
  const { kind } = await followStop(cleanup, { sandboxId, stopId: operationId, since });
  const [outcome, why] = stopped[kind];
  return resultOf(applied, outcome, why);
}

const stopped: Readonly<Record<StopEnd['kind'], readonly [ActionResult['outcome'], string | null]>> = {
  done: ['stopped', null],
  superseded: ['failed', 'somebody resumed it while it was being stopped'],
  gone: ['gone', 'the sandbox was deleted while it was being stopped'],
  vanished: ['not_confirmed', 'the service no longer knows the stop'],
};

async function awaitDeletion(cleanup: CleanupState, applied: AppliedAction): Promise<ActionResult> {
  const { operationId } = applied;
  const end = await followDeletion(cleanup, { operationId, isGone: () => isGone(cleanup, applied) });
  if (end.status === 'completed' || end.status === 'gone') return resultOf(applied, 'deleted', null);
  return resultOf(applied, 'failed', `the deletion failed: ${end.error ?? 'no reason given'}`);
}

async function isGone(cleanup: CleanupState, { sandboxId, snapshotId }: AppliedAction): Promise<boolean> {
  if (snapshotId === null) return (await retryRefusals(cleanup, 'read', () => reads.getSandbox(sandboxId))) === null;
  const kept = await retryRefusals(cleanup, 'read', () => reads.listSandboxSnapshots(sandboxId));
  return !kept?.some(({ id }) => id === snapshotId);
}
