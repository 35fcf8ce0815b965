/** Scheduled cleanups: one Temporal Schedule for each policy of a deployment. */

import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { requireOptions } from '../../contract/required-options.js';
import { cleanupId, cleanupPrefix } from '../../contract/workflow-safe/addresses.js';
import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import type { CleanupInput, CleanupMemo } from '../../protocol/cleanup.js';
import { workflowTypes } from '../../protocol/messages.js';
import type { Weekday } from '../../retention/index.js';
import { requireClient } from '../../temporal/own-copy.js';
import { lenientClient } from '../../temporal/readable-memos.js';
import type { StartCleanupOptions } from './cleanup-client.js';
import { checkCleanup } from './cleanup-input.js';

/** When a run starts, in the time zone of the policy. */
export type ScheduledTime =
  | { readonly kind: 'daily'; readonly minute: number; readonly days: readonly Weekday[] }
  | { readonly kind: 'cron'; readonly expression: string };

/** Options of `applyCleanupSchedule`. */
export interface CleanupScheduleOptions extends Omit<StartCleanupOptions, 'mode'> {
  /** When runs start, in the time zone of the policy. */
  readonly time: ScheduledTime;
  /** Maximum random delay of the start, in ms. Default: 10 minutes. */
  readonly jitterMs?: number;
  /** If Temporal missed a run, it still starts the run within this time, in ms. Default: 24 hours; at least 10 s. */
  readonly catchUpMs?: number;
}

/** A schedule as lists show it. */
export interface CleanupSchedule {
  readonly policy: string;
  /** True if the schedule starts no runs. */
  readonly paused: boolean;
  /** The note on the schedule in Temporal; null if there is none. */
  readonly note: string | null;
  /** Start of the next run, as an ISO 8601 time; null if none is due. */
  readonly nextAt: string | null;
  /** Id of the latest run, for its report; null if there was none. */
  readonly lastRun: string | null;
}

const weekdayNames = {
  mon: 'MONDAY',
  tue: 'TUESDAY',
  wed: 'WEDNESDAY',
  thu: 'THURSDAY',
  fri: 'FRIDAY',
  sat: 'SATURDAY',
  sun: 'SUNDAY',
} as const;

/**
 * Creates the schedule of a policy, or replaces its content. A paused schedule stays paused. Safe to repeat.
 * @returns whether the schedule is new
 * @throws SandflowError `bad_policy` before anything is scheduled
 * @example
 * const time = { kind: 'cron', expression: '0 3 * * *' } as const;
 * await applyCleanupSchedule(client, { deployment, taskQueue, policy, time });
 */
export async function applyCleanupSchedule(client: Client, options: CleanupScheduleOptions): Promise<boolean> {
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text', policy: 'an object' });
  const { deployment, policy } = options;
  checkCleanup(options);
  const scheduleId = cleanupId(deployment, policy.name);
  const wanted = scheduleOf(options);
  try {
    await client.schedule.create({ scheduleId, ...wanted });
    return true;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    // The old content may be encrypted with a lost key. It need not be readable, because everything except the state is
    // replaced.
    await lenientClient(client)
      .schedule.getHandle(scheduleId)
      .update(({ state }) => ({ ...wanted, state }));
    return false;
  }
}

function scheduleOf(options: CleanupScheduleOptions): Omit<ScheduleOptions, 'scheduleId'> {
  const { deployment, taskQueue, policy, time, jitterMs = 600_000, catchUpMs = 86_400_000, settings } = options;
  const memo: CleanupMemo = { policy: policy.name, mode: 'apply', acted: 0, fleet: null };
  const input: CleanupInput = { deployment, policy, mode: 'apply', settings };
  const at =
    time.kind === 'cron'
      ? { cronExpressions: [time.expression] }
      : { calendars: [{ hour: Math.floor(time.minute / 60), minute: time.minute % 60, dayOfWeek: daysOf(time.days) }] };
  return {
    spec: { ...at, timezone: policy.timeZone, jitter: jitterMs },
    action: {
      type: 'startWorkflow',
      workflowType: workflowTypes.retentionCleanup,
      // Temporal appends the time of the run to this id.
      workflowId: cleanupId(deployment, policy.name),
      taskQueue,
      args: [input],
      memo: { ...memo },
      staticSummary: `cleanup ${policy.name}`,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUpMs },
  };
}

const daysOf = (days: readonly Weekday[]) => days.map((day) => weekdayNames[day]);

/**
 * Lists the schedules of a deployment, sorted by name. Visibility lags: a new schedule may be missing for a moment.
 * @example
 * const paused = (await listCleanupSchedules(client, 'default')).filter((schedule) => schedule.paused);
 */
export async function listCleanupSchedules(client: Client, deployment: string): Promise<CleanupSchedule[]> {
  const prefix = cleanupPrefix(deployment);
  const found: CleanupSchedule[] = [];
  for await (const { scheduleId, state, info } of lenientClient(client).schedule.list()) {
    if (!scheduleId.startsWith(prefix)) continue;
    const last = info.recentActions.at(-1)?.action.workflow.workflowId;
    found.push({
      policy: scheduleId.slice(prefix.length),
      paused: state.paused,
      note: state.note || null,
      nextAt: info.nextActionTimes[0]?.toISOString() ?? null,
      lastRun: last?.slice(prefix.length) ?? null,
    });
  }
  return found.sort((a, b) => (a.policy < b.policy ? -1 : 1));
}

/** A change to a schedule; `trigger` starts a run now. */
export type ScheduleChange = 'pause' | 'resume' | 'trigger' | 'delete';

/**
 * Pauses, resumes, triggers or deletes the schedule of a policy. A trigger starts a run now, unless one is running.
 * @throws SandflowError `schedule_not_found`
 * @example
 * await changeCleanupSchedule(client, 'pause', { deployment, policyName: 'nightly' });
 */
export async function changeCleanupSchedule(
  client: Client,
  change: ScheduleChange,
  { deployment, policyName }: { readonly deployment: string; readonly policyName: string },
): Promise<void> {
  const handle = client.schedule.getHandle(cleanupId(deployment, policyName));
  try {
    await changes[change](handle);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    const message = `There is no cleanup schedule "${policyName}". List them with: sandflow cleanup schedule list`;
    throw new SandflowError('schedule_not_found', message, { cause: error });
  }
}

const changes: Readonly<Record<ScheduleChange, (handle: ScheduleHandle) => Promise<unknown>>> = {
  pause: (handle) => handle.pause('paused with sandflow'),
  resume: (handle) => handle.unpause('resumed with sandflow'),
  trigger: (handle) => handle.trigger(ScheduleOverlapPolicy.SKIP),
  delete: (handle) => handle.delete(),
};
