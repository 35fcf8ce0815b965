/** Reads schedules: what they run, when, and how their last runs ended. */

import type { Client, ScheduleDescription } from '@temporalio/client';
import { scheduledRunId } from '../../addresses/schedule-addresses.js';
import type { ScheduledRunInput, ScheduledRunMemo, ScheduledWork, ScheduleTimes } from '../../protocol/schedule.js';
import type { Overlap } from '../../protocol/schedule-overlaps.js';
import { lenientClient, memoOf, type UnreadableMemo } from '../../temporal/readable-memos.js';
import { onSchedule, overlaps, type ScheduleAddress, scheduleNames } from './schedule-client.js';

/** A run of a schedule. */
export interface ScheduledRun {
  /** Id of its job, batch or cleanup. */
  readonly id: string;
  /** The time for which it was due, as an ISO 8601 time. */
  readonly dueAt: string;
  /** `running`, or how it ended; `already_run` if the time had been run before; null if Temporal no longer knows it. */
  readonly outcome: string | null;
}

/** A schedule as lists show it. */
export interface ScheduleSummary {
  readonly name: string;
  /** True if the schedule starts no runs. */
  readonly paused: boolean;
  /** The note on the schedule in Temporal; null if there is none. */
  readonly note: string | null;
  /** When it runs; null if it cannot be read. */
  readonly times: ScheduleTimes | null;
  /** The next times, as ISO 8601 times; at most ten. Also of a paused schedule, which would run then. */
  readonly nextAt: readonly string[];
  /** The newest run; null if there was none. */
  readonly lastRun: ScheduledRun | null;
  /** Why the schedule cannot be read, such as a missing key; null if it can. */
  readonly unreadable: UnreadableMemo | null;
}

/** A schedule with all that is known of it. */
export interface Schedule extends ScheduleSummary {
  /** What it runs; null if it cannot be read. */
  readonly work: ScheduledWork | null;
  /** The words of the command that describes the work. */
  readonly command: readonly string[];
  /** Null for a policy that another program set. */
  readonly overlap: Overlap | null;
  readonly jitterMs: number;
  readonly catchUpMs: number;
  /** The newest runs, the newest first; at most ten. */
  readonly runs: readonly ScheduledRun[];
  /** Number of runs that were missed because Temporal was down for longer than `catchUpMs`. */
  readonly missed: number;
  /** Number of runs that were skipped because the last one had not ended. */
  readonly skipped: number;
}

/**
 * Reads a schedule.
 * @throws SandflowError `schedule_not_found`
 * @example
 * const { nextAt, runs } = await readSchedule(client, { deployment, name: 'nightly' });
 */
export async function readSchedule(client: Client, schedule: ScheduleAddress): Promise<Schedule> {
  const description = await onSchedule(client, schedule, (handle) => handle.describe());
  const { spec, policies, info } = description;
  const { input } = inputOf(description);
  const runs = await Promise.all(runsOf(description).map((run) => readRun(client, schedule, run)));
  return {
    ...summaryOf(schedule, description),
    lastRun: runs[0] ?? null,
    work: input?.work ?? null,
    command: input?.command ?? [],
    overlap: overlapOf(policies.overlap),
    jitterMs: spec.jitter ?? 0,
    catchUpMs: policies.catchupWindow,
    runs,
    missed: info.numActionsMissedCatchupWindow,
    skipped: info.numActionsSkippedOverlap,
  };
}

/**
 * Reads what a schedule runs; null if it cannot be read.
 * @throws SandflowError `schedule_not_found`
 */
export async function readScheduledWork(client: Client, schedule: ScheduleAddress): Promise<ScheduledWork | null> {
  return inputOf(await onSchedule(client, schedule, (handle) => handle.describe())).input?.work ?? null;
}

function summaryOf({ name }: ScheduleAddress, description: ScheduleDescription): Omit<ScheduleSummary, 'lastRun'> {
  const { state, info } = description;
  const { input, unreadable } = inputOf(description);
  return {
    name,
    paused: state.paused,
    note: state.note || null,
    times: input?.times ?? null,
    nextAt: info.nextActionTimes.map((time) => time.toISOString()),
    unreadable,
  };
}

function inputOf({ action }: ScheduleDescription) {
  const { memo, unreadable } = memoOf({ input: action.args?.[0] });
  if (unreadable) return { unreadable };
  const { times, work } = (memo.input ?? {}) as Partial<ScheduledRunInput>;
  if (times && work) return { input: memo.input as ScheduledRunInput, unreadable };
  return { unreadable: foreign };
}

const foreign: UnreadableMemo = { code: 'unreadable', message: 'Another program than sandflow wrote this schedule.' };

/**
 * Reads the schedules of a deployment, sorted by name. Visibility lags: a new schedule may be missing for a moment.
 * @example
 * const paused = (await listSchedules(client, 'default')).filter((schedule) => schedule.paused);
 */
export async function listSchedules(client: Client, deployment: string): Promise<ScheduleSummary[]> {
  const found: ScheduleSummary[] = [];
  for (const name of await scheduleNames(client, deployment)) {
    const schedule = { deployment, name };
    const description = await onSchedule(client, schedule, (handle) => handle.describe());
    const [last] = runsOf(description);
    const lastRun = last ? await readRun(client, schedule, last) : null;
    found.push({ ...summaryOf(schedule, description), lastRun });
  }
  return found;
}

function overlapOf(policy: string | undefined): Overlap | null {
  const [name = null] = Object.entries(overlaps).find(([, of]) => of === policy) ?? [];
  return name as Overlap | null;
}

/** The newest first. */
function runsOf({ info }: ScheduleDescription): Run[] {
  return info.recentActions.map(({ action }) => action.workflow).reverse();
}

interface Run {
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
}

async function readRun(
  client: Client,
  { name }: ScheduleAddress,
  { workflowId, firstExecutionRunId }: Run,
): Promise<ScheduledRun> {
  // Temporal appends the time to the id, which another program may have chosen.
  const dueAt = new Date(workflowId.slice(-'2026-11-26T01:30:00Z'.length));
  const run = { id: scheduledRunId(name, dueAt), dueAt: dueAt.toISOString() };
  try {
    const { status, memo } = await lenientClient(client).workflow.getHandle(workflowId, firstExecutionRunId).describe();
    const { id = null, outcome = null } = memoOf(memo).memo as Partial<ScheduledRunMemo>;
    if (status.name === 'RUNNING') return { ...run, outcome: 'running' };
    if (status.name !== 'COMPLETED') return { ...run, outcome: status.name.toLowerCase() };
    return { ...run, outcome: outcome ?? (id === null ? 'already_run' : 'terminated') };
  } catch {
    return { ...run, outcome: null };
  }
}
