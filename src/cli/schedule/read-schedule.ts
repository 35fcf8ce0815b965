/** Checks the command line of `schedule add`. */

import { scheduleNameProblem } from '../../addresses/schedule-addresses.js';
import { zoneOfMachine } from '../../os/zone-of-machine.js';
import { longestCatchUpMs, longestJitterMs } from '../../protocol/limits.js';
import type { ScheduleTimes } from '../../protocol/schedule.js';
import { firstWindowCron } from '../../retention/index.js';
import { isTimeZone } from '../../texts/time-zone.js';
import { cronProblem } from '../../workflow-client/schedules/cron-problem.js';
import type { CommandContext } from '../command.js';
import { parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { AddOptions } from './options.js';
import { readScheduledFile, type ScheduledFile } from './scheduled-file.js';

/** What the user says of a schedule, checked. */
export type ReadSchedule = Readonly<Awaited<ReturnType<typeof readSchedule>>>;

/** @param path the file of a job, a batch or a cleanup @throws UsageError; what the file itself throws */
export async function readSchedule(name: string, path: string, options: AddOptions, context: CommandContext) {
  const { deployment, timeZone } = await context.io.readConfig();
  const problem = scheduleNameProblem(deployment, name);
  if (problem) throw new UsageError(`The name ${problem}.`);
  const { jitter, overlap } = options;
  const jitterMs = jitter === '0' ? 0 : parseDurationMs(jitter, '--jitter', { mostMs: longestJitterMs });
  const catchUpMs = parseDurationMs(options.catchUp, '--catch-up', { mostMs: longestCatchUpMs });
  if (catchUpMs < 10_000) throw new UsageError('--catch-up must be at least 10s.');
  const file = await readScheduledFile(path, context);
  try {
    return { name, times: timesOf(options, file, timeZone), overlap, jitterMs, catchUpMs, file };
  } catch (error) {
    await closeFile(file);
    throw error;
  }
}

/** Removes the copies of what was read from stdin. */
export async function closeFile(file: ScheduledFile): Promise<void> {
  if (file.kind === 'batch') await file.read.close();
}

function timesOf(
  { cron, zone }: Pick<AddOptions, 'cron' | 'zone'>,
  file: ScheduledFile,
  timeZone: string | undefined,
): ScheduleTimes {
  if (zone !== undefined && !isTimeZone(zone)) {
    throw new UsageError(
      `--zone: "${zone}" is not a time zone. Use an IANA name with its capital letters, like Europe/Vienna or UTC.`,
    );
  }
  if (cron !== undefined) {
    if (/^(CRON_)?TZ=/.test(cron)) throw new UsageError('--cron must not name a time zone. Use --zone.');
    const problem = cronProblem(cron);
    if (problem !== undefined) throw new UsageError(`--cron ${problem}.`);
    return { cron, zone: zone ?? requireZone(timeZone) };
  }
  if (file.kind !== 'cleanup') {
    throw new UsageError('--cron is missing. Say when the schedule runs, like --cron "30 2 * * 1-5".');
  }
  if (zone !== undefined) throw new UsageError('--zone requires --cron: without it, the policy has a zone of its own.');
  return firstWindowCron(file.policy);
}

function requireZone(timeZone: string | undefined): string {
  const zone = zoneOfMachine(timeZone);
  if (zone !== undefined) return zone;
  const setting = timeZone === undefined ? 'The time zone of this machine' : `TZ, which is "${timeZone}",`;
  throw new UsageError(
    `--zone is missing: ${setting} is not the IANA name of a time zone. Use one, like --zone Europe/Vienna.`,
  );
}
