/** Starts a run of a schedule now, and says which. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  encodeScheduleOverlapPolicy,
  type ScheduleDescription,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { scheduledRunId } from '../../addresses/schedule-addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { ScheduledRunMemo } from '../../protocol/schedule.js';
import { timestampOf } from '../../temporal/iso-time.js';
import { describeIfThere, lenientClient, memoOf } from '../../temporal/readable-memos.js';
import { onSchedule, type ScheduleAddress } from './schedule-client.js';

/**
 * - `started`: the run with this id has started.
 * - `skipped`: the last run has not ended, and the schedule skips runs meanwhile.
 * - `waiting`: the run with this id starts as soon as the last one has ended.
 */
export type RunNow =
  | { readonly kind: 'started'; readonly id: string }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'waiting'; readonly id: string };

/** Temporal decides within a second, and a worker starts the run then. */
const lookEveryMs = 100;
const looks = 300;
/** Until then, a skip may be that of another run, and a run may wait for a moment only. */
const decidedAfterLooks = 15;
const triggeredEveryLooks = 20;
/** Runs that are asked for at once take different seconds of this span before now, because the id of a run is its time. */
const spanSeconds = 60;

/**
 * Starts a run of a schedule now, also of a paused one. Its id names a second of the last minute. What happens if the last
 * run has not ended is the same as at any other time. Not safe to repeat: each call is a run of its own. Only calls at the
 * very same moment may, by chance, take the same second, and are one run then.
 * @throws SandflowError `schedule_not_found`; `no_worker` if no worker starts the run within 30 s: it starts later
 * @example
 * const run = await runScheduleNow(client, { deployment, name: 'nightly' });
 */
export function runScheduleNow(client: Client, schedule: ScheduleAddress): Promise<RunNow> {
  return onSchedule(client, schedule, async (handle) => {
    const before = await handle.describe();
    const { overlap } = before.policies;
    const dueAt = await freeSecond(client, handle.scheduleId);
    const trigger = () =>
      client.workflowService.patchSchedule({
        namespace: client.options.namespace,
        scheduleId: handle.scheduleId,
        requestId: randomUUID(),
        patch: {
          triggerImmediately: {
            overlapPolicy: encodeScheduleOverlapPolicy(overlap),
            scheduledTime: timestampOf(dueAt.getTime()),
          },
        },
      });
    const id = scheduledRunId(schedule.name, dueAt);
    for (let look = 0; look < looks; look += 1) {
      // Of triggers that arrive together, Temporal may lose some. Another one of the same time starts nothing twice.
      if (look % triggeredEveryLooks === 0) await trigger();
      const run = await describeIfThere(client, runWorkflowId(handle.scheduleId, dueAt));
      if (run) return { kind: 'started', id: await untilStarted(client, run, id) };
      if (look >= decidedAfterLooks && overlap !== 'ALLOW_ALL') {
        const now = await handle.describe();
        if (now.info.numActionsSkippedOverlap > before.info.numActionsSkippedOverlap) return { kind: 'skipped' };
        if (overlap !== 'SKIP' && waitingIn(now) > waitingIn(before)) return { kind: 'waiting', id };
      }
      await sleep(lookEveryMs);
    }
    return { kind: 'waiting', id };
  });
}

const waitingIn = ({ raw }: ScheduleDescription) => Number(raw.info?.bufferSize ?? 0);

const runWorkflowId = (scheduleId: string, dueAt: Date) => `${scheduleId}-${dueAt.toISOString().replace('.000', '')}`;

async function freeSecond(client: Client, scheduleId: string): Promise<Date> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  for (;;) {
    const dueAt = new Date((nowSeconds - randomInt(spanSeconds)) * 1_000);
    if (!(await describeIfThere(client, runWorkflowId(scheduleId, dueAt)))) return dueAt;
  }
}

/** Waits until the run has started its work, so that its caller can find it by the id. */
async function untilStarted(client: Client, { workflowId, runId }: WorkflowExecutionDescription, id: string) {
  const handle = lenientClient(client).workflow.getHandle(workflowId, runId);
  for (let look = 0; look < looks; look += 1) {
    const { memo, status } = await handle.describe();
    const started = memoOf(memo).memo as Partial<ScheduledRunMemo>;
    if (started.id || status.name !== 'RUNNING') return id;
    await sleep(lookEveryMs);
  }
  const message = `No worker has started the run ${id} of the schedule yet: it starts as soon as one does. Start one with \`sandflow worker\`.`;
  throw new SandflowError('no_worker', message);
}
