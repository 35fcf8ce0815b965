import { startTimeOf } from '../../retention/index.js';
import type { StackStatus } from '../../supervisor/control-protocol.js';
import type { ScheduleChange, ScheduledTime } from '../../workflow-client/cleanups/schedules.js';
import type { CommandContext } from '../command.js';
import { readStatus } from '../connect/stack-status.js';
import { withPlatform } from '../connect/with-platform.js';
import { keepCommand } from '../notify/notify-target.js';
import { printJson } from '../output/json.js';
import type { Notices } from '../output/reporter.js';
import { printList } from '../output/table.js';
import { formatDuration, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ApplyScheduleOptions } from './options.js';
import { readPolicyFile } from './policy-file.js';

const embeddedNotice =
  'The embedded Temporal server stops when it is idle, and schedules do not run while it is down. To run every ' +
  'night, start it with `sandflow up`, or set TEMPORAL_ADDRESS to a server that stays up.';

export async function applySchedule(
  file: string,
  options: ApplyScheduleOptions,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  if (options.at !== undefined && options.cron !== undefined) throw new UsageError('Use --at or --cron, not both.');
  const atMinute = options.at === undefined ? undefined : minuteOf(options.at);
  const jitterMs = parseDurationMs(options.jitter, '--jitter');
  const catchUpMs = parseDurationMs(options.catchUp, '--catch-up');
  const { policy, notifyCommand } = await readPolicyFile(file, io);
  const time = timeOf(options.cron, () => startTimeOf(policy, atMinute), jitterMs);
  const { created, next } = await withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
    await warnOfEmbedded(platform.config, reporter);
    if (notifyCommand !== undefined) await keepCommand(notifyCommand, await io.readConfig());
    const { temporal, config } = platform;
    const { deployment, taskQueue } = config;
    const { applyCleanupSchedule, listCleanupSchedules } = await import('../../workflow-client/cleanups/schedules.js');
    const isNew = await applyCleanupSchedule(temporal, { deployment, taskQueue, policy, time, jitterMs, catchUpMs });
    const listed = await listCleanupSchedules(temporal, deployment);
    return { created: isNew, next: listed.find((schedule) => schedule.policy === policy.name)?.nextAt ?? null };
  });
  if (options.json) return printJson(io.stdout, { policy: policy.name, created, nextAt: next, error: null });
  const verb = created ? 'scheduled' : 'schedule replaced';
  io.stdout.write(`${policy.name} ${verb}${next === null ? '' : `; next run at ${next}`}\n`);
}

function timeOf(
  cron: string | undefined,
  start: () => ReturnType<typeof startTimeOf>,
  jitterMs: number,
): ScheduledTime {
  if (cron !== undefined) return { kind: 'cron', expression: cron };
  const { minute, days, minutesLeft } = start();
  if (minutesLeft !== null && jitterMs >= minutesLeft * 60_000) {
    const left = formatDuration(minutesLeft * 60_000);
    throw new UsageError(`--jitter must be shorter than ${left}, the time from the start to the end of the window.`);
  }
  return { kind: 'daily', minute, days };
}

function minuteOf(text: string): number {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) throw new UsageError(`--at: "${text}" is not a time of day. Use a value like 02:30.`);
  return Number(hours) * 60 + Number(minutes);
}

export async function listSchedules({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
  const { io } = context;
  const schedules = await withPlatform(context, {}, async ({ temporal, config }, reporter) => {
    await warnOfEmbedded(config, reporter);
    const { listCleanupSchedules } = await import('../../workflow-client/cleanups/schedules.js');
    return listCleanupSchedules(temporal, config.deployment);
  });
  printList(
    io,
    json,
    { schedules },
    {
      none: 'No cleanup schedules found.',
      header: ['POLICY', 'STATE', 'NEXT', 'LAST RUN'],
      cells: ({ policy, paused, nextAt, lastRun }) => [
        policy,
        paused ? 'paused' : 'on',
        paused ? '' : (nextAt ?? ''),
        lastRun ?? '',
      ],
    },
  );
}

const pastTense = { pause: 'paused', resume: 'resumed', trigger: 'triggered', delete: 'deleted' } as const;

export async function changeSchedule(
  change: ScheduleChange,
  { policyName, json }: { readonly policyName: string; readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  await withPlatform(context, { needsWorker: change === 'trigger' }, async ({ temporal, config }, reporter) => {
    if (change === 'resume') await warnOfEmbedded(config, reporter);
    const { changeCleanupSchedule } = await import('../../workflow-client/cleanups/schedules.js');
    return changeCleanupSchedule(temporal, change, { deployment: config.deployment, policyName });
  });
  if (json) return printJson(io.stdout, { policy: policyName, change, error: null });
  io.stdout.write(`${policyName} ${pastTense[change]}\n`);
}

/** Warns of a Temporal server that may be down at night, unless somebody keeps it up. */
export async function warnOfEmbedded(
  { temporal, home }: { readonly temporal: { readonly configured: boolean }; readonly home: string },
  reporter: Notices,
  status: (home: string) => Promise<Pick<StackStatus, 'kept' | 'foreground'> | undefined> = readStatus,
): Promise<void> {
  if (temporal.configured) return;
  const stack = await status(home).catch(() => undefined);
  if (!stack?.kept && !stack?.foreground) reporter.notice(embeddedNotice);
}
