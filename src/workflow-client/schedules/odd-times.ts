/**
 * Finds the times of a schedule that a change of the clock skips or repeats, and asks Temporal when it runs then. Its
 * documents say that a repeated time runs twice, but its servers run some of them once or not at all.
 */

import { type Client, DAYS_OF_WEEK, MONTHS, type ScheduleDescription } from '@temporalio/client';
import { timestampOf } from '../../temporal/iso-time.js';
import { clockChanges, type LocalMinute, type OddMinute, oddMinutes } from './clock-changes.js';

/** A time of a schedule that a change of the clock skips or repeats. */
export interface OddTime extends OddMinute {
  /** When Temporal runs the schedule, as ISO 8601 times: of `moments` none, one or both. */
  readonly runsAt: readonly string[];
}

const besideMs = 4 * 3_600_000;

/**
 * @param span in ms since the epoch
 * @throws errors of Temporal's service
 */
export async function readOddTimes(
  client: Client,
  { scheduleId, spec }: Pick<ScheduleDescription, 'scheduleId' | 'spec'>,
  zone: string,
  span: { readonly fromMs: number; readonly toMs: number },
): Promise<OddTime[]> {
  const found: OddTime[] = [];
  for (const change of clockChanges(zone, span.fromMs, span.toMs)) {
    const minutes = oddMinutes(change, (local) => runsAt(spec, local));
    if (minutes.length === 0) continue;
    const runs = new Set(await matchingTimes(client, scheduleId, change.atMs));
    found.push(...minutes.map((odd) => ({ ...odd, runsAt: odd.moments.filter((moment) => runs.has(moment)) })));
  }
  return found;
}

async function matchingTimes(client: Client, scheduleId: string, aroundMs: number): Promise<string[]> {
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    namespace: client.options.namespace,
    scheduleId,
    startTime: timestampOf(aroundMs - besideMs),
    endTime: timestampOf(aroundMs + besideMs),
  });
  return startTime.map(({ seconds }) => new Date(Number(seconds) * 1_000).toISOString());
}

/** Whether Temporal's calendars match a local minute. An interval (`@every`) does not depend on the clock. */
function runsAt({ calendars = [] }: ScheduleDescription['spec'], local: LocalMinute): boolean {
  return calendars.some(
    (calendar) =>
      matches(calendar.minute, local.minute) &&
      matches(calendar.hour, local.hour) &&
      matches(calendar.dayOfMonth, local.day) &&
      matches(inNumbers(calendar.month, MONTHS, 1), local.month) &&
      matches(inNumbers(calendar.dayOfWeek, DAYS_OF_WEEK, 0), local.weekday) &&
      (calendar.year.length === 0 || matches(calendar.year, local.year)),
  );
}

interface Range<Unit> {
  readonly start: Unit;
  readonly end: Unit;
  readonly step: number;
}

function inNumbers<Name>(ranges: readonly Range<Name>[], names: readonly Name[], first: number): Range<number>[] {
  const numberOf = (name: Name) => names.indexOf(name) + first;
  return ranges.map(({ start, end, step }) => ({ start: numberOf(start), end: numberOf(end), step }));
}

/** Temporal writes a single value with an end of 0. */
function matches(ranges: readonly Range<number>[], value: number): boolean {
  return ranges.some(({ start, end, step }) => {
    const last = Math.max(start, end);
    return value >= start && value <= last && (value - start) % Math.max(1, step) === 0;
  });
}
