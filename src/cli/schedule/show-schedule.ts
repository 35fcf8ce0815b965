/** `sandflow schedule show` and `list`. */

import type { ScheduledWork } from '../../protocol/schedule.js';
import { headOf } from '../../protocol/stored-text.js';
import { keepUrlSecrets } from '../../secrecy/known-secrets.js';
import { shellWord } from '../../texts/shell-word.js';
import type { Schedule } from '../../workflow-client/schedules/read-schedules.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { targetText } from '../notify/notify-target.js';
import { printJson } from '../output/json.js';
import { formatTable, printList, tableWidth } from '../output/table.js';
import { headLine, oneLine } from '../output/terminal-safe.js';
import { formatDuration, plural } from '../units.js';
import { inZone } from './time-text.js';
import { warnOfEmbedded } from './warn-of-embedded.js';

/** Further times are in JSON. */
const timesShown = 5;

export async function showSchedule(name: string, { json }: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const schedule = await withPlatform(context, {}, async ({ temporal, config }, reporter) => {
    await warnOfEmbedded(config, reporter);
    const { readSchedule } = await import('../../workflow-client/schedules/read-schedules.js');
    return readSchedule(temporal, { deployment: config.deployment, name });
  });
  hideSecrets(schedule);
  if (json) return printJson(io.stdout, { schedule: withoutPaths(schedule), error: null });
  io.stdout.write(formatTable(['SCHEDULE', name], rowsOf(schedule), { width: tableWidth(io.stdout) }));
  if (schedule.unreadable) io.stderr.write(`${schedule.unreadable.message}\n`);
}

/** Whoever may read a schedule need not know where it notifies. */
function hideSecrets({ work }: Schedule): void {
  const target = work?.kind === 'cleanup' ? work.input.policy.notify : work?.input.notify;
  if (target?.url !== undefined) keepUrlSecrets(target.url);
}

/** The address of a notification is a secret as a whole: only its origin is shown. */
function withoutPaths(schedule: Schedule): unknown {
  const isTarget = (name: string, value: unknown): value is { readonly url: string } =>
    name === 'notify' && typeof value === 'object' && value !== null && 'url' in value;
  const shown = (name: string, value: unknown) =>
    isTarget(name, value) ? { ...value, url: targetText(value.url) } : value;
  return JSON.parse(JSON.stringify(schedule, shown));
}

function rowsOf(schedule: Schedule): (readonly [string, string])[] {
  const { work, command, times, overlap, jitterMs, catchUpMs, missed, skipped } = schedule;
  const zone = times?.zone ?? 'UTC';
  const rules = [`overlap ${overlap ?? '?'}`, `jitter ${jitterMs === 0 ? '0' : formatDuration(jitterMs)}`];
  const lost = [
    ...(missed > 0 ? [`${plural(missed, 'run')} missed: Temporal was down for longer than the catch-up`] : []),
    ...(skipped > 0 ? [`${plural(skipped, 'run')} skipped: the last one had not ended`] : []),
  ];
  return [
    ['state', stateOf(schedule)],
    ['command', command.length === 0 ? '?' : oneLine(['sandflow', ...command].map(shellWord).join(' '))],
    ...storedRows(work),
    ['cron', times === null ? '?' : `${times.cron} in ${times.zone}`],
    ['rules', [...rules, `catch-up ${formatDuration(catchUpMs)}`].join(', ')],
    ...labelled(
      'next',
      schedule.nextAt.slice(0, timesShown).map((at) => inZone(at, zone)),
    ),
    ...labelled(
      'runs',
      schedule.runs.map(({ id, dueAt, outcome }) => `${id}  ${outcome ?? '?'}  ${inZone(dueAt, zone)}`),
    ),
    ...labelled('lost', lost),
  ];
}

/** The label is in front of the first text only. */
function labelled(label: string, texts: readonly string[]): [string, string][] {
  return texts.map((text, at) => [at === 0 ? label : '', text]);
}

const stateOf = ({ paused, note }: Schedule) => (paused ? `paused${note === null ? '' : `: ${oneLine(note)}`}` : 'on');

/** What was stored when the schedule was added. */
function storedRows(work: ScheduledWork | null): [string, string][] {
  switch (work?.kind) {
    case 'job': {
      const { prompts, put, collect, end } = work.input;
      return [
        ...labelled(
          'prompts',
          prompts.map(({ prompt }) => headLine(headOf(prompt, 200))),
        ),
        ...labelled(
          'put',
          put.map(({ path }) => oneLine(path)),
        ),
        ...labelled('get', collect.map(oneLine)),
        ['end', end],
      ];
    }
    case 'batch':
      return [
        ['items', String(work.items)],
        ['end', work.input.policy.end],
      ];
    case 'cleanup':
      return [['policy', `${work.input.policy.name}, ${plural(work.input.policy.rules.length, 'rule')}`]];
    default:
      return [];
  }
}

export async function printSchedules({ json }: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const schedules = await withPlatform(context, {}, async ({ temporal, config }, reporter) => {
    await warnOfEmbedded(config, reporter);
    const { listSchedules } = await import('../../workflow-client/schedules/read-schedules.js');
    return listSchedules(temporal, config.deployment);
  });
  printList(io, json, {
    list: { schedules },
    none: 'No schedules found.',
    header: ['SCHEDULE', 'STATE', 'NEXT', 'LAST RUN'],
    cells: ({ name, paused, nextAt: [next], times, lastRun: last }) => [
      name,
      paused ? 'paused' : 'on',
      paused || next === undefined ? '' : inZone(next, times?.zone ?? 'UTC'),
      last === null ? '' : `${last.id} ${last.outcome ?? ''}`,
    ],
  });
}
