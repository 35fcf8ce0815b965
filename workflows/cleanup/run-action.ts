/**
 * Runs one action of a cleanup. An activity checks the guards again and starts the action; then the workflow follows
 * the action to its end.
 */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { AppliedAction } from '../../activities/cleanup/guarded-action.js';
import type { ActionResult } from '../../src/protocol/cleanup.js';
import { Lag } from '../job/sandbox/wait-until-usable.js';
import { toJobTermination } from '../shared/job-termination.js';
import { effects } from '../shared/proxies.js';
import { reads } from '../shared/reads.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { observedStop } from '../stop/stop-outcome.js';
import { holdingClaim } from '../watch/hold-claim.js';
import type { CleanupState } from './cleanup-state.js';

export interface OneAction {
  readonly chunkRef: string;
  readonly index: number;
  /** Number of the action in the plan. */
  readonly number: number;
}

/**
 * Runs one action. Throws only if the whole cleanup is cancelled: failures are reported, and the next action follows.
 */
export async function runCleanupAction(
  run: CleanupState,
  { chunkRef, index, number }: OneAction,
): Promise<ActionResult> {
  const nothing = { number, guard: null, operationId: null };
  let last: ActionResult = {
    ...nothing,
    outcome: 'failed',
    why: 'no attempt got an answer in time; the action may have taken effect',
  };
  try {
    return await CancellationScope.withTimeout(run.settings.actionDeadlineMs, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const applied = await retryRefusals(run, 'clean up', () => effects.applyCleanup({ chunkRef, index }));
        // The guard refused only because our failed deletion changed the sandbox. So this action counts as failed, not
        // as skipped.
        if (applied.did === 'skipped' && attempt > 1) return { ...last, why: `${last.why}; then ${applied.why}` };
        if (applied.did === 'skipped') return resultOf(applied, 'skipped', applied.why);
        if (applied.did === 'gone') return resultOf(applied, 'gone', 'there was nothing left to delete');
        last = resultOf(applied, 'not_confirmed', 'the service accepted it, but did not finish it in time');
        last = await (applied.did === 'stopping' ? followStop(run, applied) : followDeletion(run, applied));
        if (last.outcome !== 'failed' || applied.did === 'stopping') return last;
        if (attempt >= run.settings.deletionAttempts) return last;
        await sleep(pollDelayMs(run, attempt), { summary: 'until the deletion is tried again' });
      }
    });
  } catch (error) {
    const isBegun = last.outcome === 'not_confirmed';
    if (!isCancellation(error)) {
      const { message } = toJobTermination(error).jobError;
      if (isBegun) return { ...last, why: `the service accepted it; then: ${message}` };
      return { ...last, outcome: 'failed', why: message };
    }
    if (CancellationScope.current().consideredCancelled && !isBegun) throw error;
    return last;
  }
}

function resultOf({ number, guard, operationId }: AppliedAction, outcome: ActionResult['outcome'], why: string | null) {
  return { number, outcome, guard, why, operationId };
}

/** Only the record of this stop confirms its end. The state of the sandbox may belong to an earlier stop. */
async function followStop(run: CleanupState, applied: AppliedAction): Promise<ActionResult> {
  const { sandboxId, operationId } = applied;
  const lag = new Lag(run.settings.readLagMs);
  for (let looks = 0; operationId !== null; looks += 1) {
    const stop = await retryRefusals(run, 'read', () => reads.getStop(sandboxId, operationId));
    if (isMissing(stop, lag)) return resultOf(applied, 'gone', 'the sandbox was deleted while it was being stopped');
    const { kind } = observedStop(stop);
    if (kind === 'done') return resultOf(applied, 'stopped', null);
    if (kind === 'superseded') return resultOf(applied, 'failed', 'somebody resumed it while it was being stopped');
    await sleep(pollDelayMs(run, looks), { summary: `until ${sandboxId} is archived` });
  }
  return resultOf(applied, 'not_confirmed', 'the service returned no id for the stop');
}

/** Follows a deletion to its end. Until then, the claim prevents new leases. */
async function followDeletion(run: CleanupState, applied: AppliedAction): Promise<ActionResult> {
  const { sandboxId, claim } = applied;
  return claim === null
    ? awaitDeletion(run, applied)
    : holdingClaim(sandboxId, claim, () => awaitDeletion(run, applied));
}

async function awaitDeletion(run: CleanupState, applied: AppliedAction): Promise<ActionResult> {
  const { sandboxId, operationId } = applied;
  const lag = new Lag(run.settings.readLagMs);
  for (let looks = 0; operationId !== null; looks += 1) {
    const operation = await retryRefusals(run, 'read', () => reads.getDeletionOperation(operationId));
    if (isMissing(operation, lag))
      return resultOf(applied, 'not_confirmed', 'the service no longer knows the deletion');
    if (operation?.status === 'completed') return resultOf(applied, 'deleted', null);
    if (operation?.status === 'failed') {
      return resultOf(applied, 'failed', `the deletion failed: ${operation.error ?? 'no reason given'}`);
    }
    await sleep(pollDelayMs(run, looks), { summary: `until ${sandboxId} is deleted` });
  }
  return resultOf(applied, 'not_confirmed', 'the service accepted the deletion without an operation id');
}

/** Reads lag behind writes: a missing record counts as gone only once it has been missing for longer than the lag. */
function isMissing(seen: object | null, lag: Lag): boolean {
  if (seen !== null) lag.over();
  return seen === null && lag.lasts('missing');
}

function pollDelayMs({ settings }: CleanupState, looks: number): number {
  return Math.min(settings.lookMaxMs, settings.lookFirstMs * 2 ** looks);
}
