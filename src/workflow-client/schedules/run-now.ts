/** Starts a run of a schedule now, and says which. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ScheduleDescription } from '@temporalio/client';
import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import type { ScheduledRunMemo } from '../../protocol/schedule.js';
import { lenientClient, memoOf } from '../../temporal/readable-memos.js';
import { onSchedule, type ScheduleAddress } from './schedule-client.js';

/**
 * - `started`: the run with this id has started.
 * - `skipped`: the last run has not ended, and the schedule skips runs meanwhile.
 * - `waiting`: the run starts as soon as the last one has ended.
 */
export type RunNow =
  | { readonly kind: 'started'; readonly id: string }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'waiting' };

/** Temporal decides within a second, and a worker starts the run then. */
const lookEveryMs = 100;
const looks = 300;

/**
 * Starts a run of a schedule now, also of a paused one. What happens if the last run has not ended is the same as at any
 * other time. Not safe to repeat: each call is a run of its own.
 * @throws SandflowError `schedule_not_found`; `no_worker` if no worker starts the run within 30 s: it starts later
 * @example
 * const run = await runScheduleNow(client, { deployment, name: 'nightly' });
 */
export async function runScheduleNow(client: Client, schedule: ScheduleAddress): Promise<RunNow> {
  const decided = await onSchedule(client, schedule, async (handle) => {
    const before = await handle.describe();
    // A second run within this second would have the id of the first, and start nothing.
    await sleep(1_000 - (Date.now() % 1_000));
    await handle.trigger(before.policies.overlap);
    for (let look = 0; look < looks; look += 1) {
      const now = await handle.describe();
      const run = newestRun(now);
      if (run && run.firstExecutionRunId !== newestRun(before)?.firstExecutionRunId) return run;
      if (now.info.numActionsSkippedOverlap > before.info.numActionsSkippedOverlap) return 'skipped';
      if (waitingIn(now) > waitingIn(before)) return 'waiting';
      await sleep(lookEveryMs);
    }
    return 'waiting';
  });
  if (typeof decided === 'string') return { kind: decided };
  return { kind: 'started', id: await idOf(client, decided.workflowId, decided.firstExecutionRunId) };
}

const newestRun = ({ info }: ScheduleDescription) => info.recentActions.at(-1)?.action.workflow;

const waitingIn = ({ raw }: ScheduleDescription) => Number(raw.info?.bufferSize ?? 0);

/** Waits until the run has started its work, so that its caller can find it by the id. */
async function idOf(client: Client, workflowId: string, runId: string): Promise<string> {
  const handle = lenientClient(client).workflow.getHandle(workflowId, runId);
  for (let look = 0; look < looks; look += 1) {
    const { id } = memoOf((await handle.describe()).memo).memo as Partial<ScheduledRunMemo>;
    if (id) return id;
    await sleep(lookEveryMs);
  }
  const message = `No worker has started the run of the schedule yet: it starts as soon as one does. Start one with \`sandflow worker\`.`;
  throw new SandflowError('no_worker', message);
}
