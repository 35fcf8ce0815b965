/** One action of a cleanup: begun by an activity that asks everything once more, and followed to its end. */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { AppliedAction } from '../../activities/cleanup-action.js';
import type { ActionResult } from '../cleanup.js';
import { effects, reads } from '../proxies.js';
import type { CleanupRun } from './cleanup-run.js';
import { endOf } from './job-ended.js';
import { patiently } from './patiently.js';

export interface OneAction {
  readonly chunkRef: string;
  readonly index: number;
  /** Number of the action in the plan. */
  readonly number: number;
}

/** Never throws, but for a cancel of the whole cleanup: what fails is reported, and the next one's turn comes. */
export async function cleanOne(run: CleanupRun, { chunkRef, index, number }: OneAction): Promise<ActionResult> {
  let last: ActionResult = {
    number,
    outcome: 'failed',
    guard: null,
    why: 'it was not begun in time',
    operationId: null,
  };
  try {
    return await CancellationScope.withTimeout(run.settings.actionDeadlineMs, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const applied = await patiently(run, 'clean up', () => effects.applyCleanup({ chunkRef, index }));
        if (applied.did === 'skipped') return resultOf(applied, 'skipped', applied.why);
        if (applied.did === 'gone')
          return resultOf(applied, 'gone', 'it is gone; an attempt whose answer was lost may have deleted it');
        last = resultOf(applied, 'not_confirmed', 'the service has accepted it, and was not seen to finish in time');
        const ended = await (applied.did === 'stopping' ? followStop(run, applied) : followDeletion(run, applied));
        last = ended;
        if (ended.outcome !== 'failed' || applied.did === 'stopping') return ended;
        if (attempt >= run.settings.deletionAttempts) return ended;
      }
    });
  } catch (error) {
    if (!isCancellation(error)) return { ...last, outcome: 'failed', why: endOf(error).jobError.message };
    const isBegun = last.outcome === 'not_confirmed';
    if (CancellationScope.current().consideredCancelled && !isBegun) throw error;
    return last;
  }
}

function resultOf({ number, guard, operationId }: AppliedAction, outcome: ActionResult['outcome'], why: string | null) {
  return { number, outcome, guard, why, operationId };
}

/** The stop's own record ends it, not the state of the sandbox, which may be of an earlier stop. */
async function followStop(run: CleanupRun, applied: AppliedAction): Promise<ActionResult> {
  const { sandboxId, operationId } = applied;
  for (let looks = 0; operationId !== null; looks += 1) {
    const stop = await patiently(run, 'read', () => reads.getStop(sandboxId, operationId));
    if (stop === null) return resultOf(applied, 'gone', 'the sandbox was deleted while it was being stopped');
    if (stop.status === 'completed') return resultOf(applied, 'stopped', null);
    if (stop.status === 'superseded')
      return resultOf(applied, 'failed', 'somebody resumed it while it was being stopped');
    await sleep(lookDelayMs(run, looks), { summary: `until ${sandboxId} is archived` });
  }
  return resultOf(applied, 'not_confirmed', 'the service gave the stop no id');
}

async function followDeletion(run: CleanupRun, applied: AppliedAction): Promise<ActionResult> {
  const { sandboxId, operationId } = applied;
  for (let looks = 0; operationId !== null; looks += 1) {
    const operation = await patiently(run, 'read', () => reads.getDeletionOperation(operationId));
    if (operation === null)
      return resultOf(applied, 'not_confirmed', 'the service does not know the deletion any more');
    if (operation.status === 'completed') return resultOf(applied, 'deleted', null);
    if (operation.status === 'failed') {
      return resultOf(applied, 'failed', `the deletion failed: ${operation.error ?? 'no reason given'}`);
    }
    await sleep(lookDelayMs(run, looks), { summary: `until ${sandboxId} is deleted` });
  }
  return resultOf(applied, 'gone', null);
}

function lookDelayMs({ settings }: CleanupRun, looks: number): number {
  return Math.min(settings.lookMaxMs, settings.lookFirstMs * 2 ** looks);
}
