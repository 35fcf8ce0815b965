/** `sandflow schedule run-now`, `pause`, `resume` and `remove`. */

import type { ScheduleChange } from '../../workflow-client/schedules/schedule-client.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { warnOfEmbedded } from './warn-of-embedded.js';

/** @returns the exit code */
export async function runNow(name: string, { json }: JsonOption, context: CommandContext): Promise<number> {
  const { io } = context;
  const { run, kind } = await withPlatform(context, { needsWorker: true }, async ({ temporal, config }) => {
    const { readScheduledWork } = await import('../../workflow-client/schedules/read-schedules.js');
    const { runScheduleNow } = await import('../../workflow-client/schedules/run-now.js');
    const schedule = { deployment: config.deployment, name };
    const work = await readScheduledWork(temporal, schedule);
    return { run: await runScheduleNow(temporal, schedule), kind: work?.kind };
  });
  if (json) printJson(io.stdout, { ...run, error: null });
  else if (run.kind === 'started') io.stdout.write(`${run.id}\n`);
  if (run.kind === 'started') {
    if (!json) io.stderr.write(`See it with: sandflow ${next[kind ?? 'job']} ${run.id}\n`);
    return exitCodes.done;
  }
  io.stderr.write(
    `${run.kind === 'waiting' ? `The run ${run.id} starts when the last one has ended.` : skippedText}\n`,
  );
  return run.kind === 'waiting' ? exitCodes.done : exitCodes.otherOutcome;
}

const next = { job: 'jobs watch', batch: 'fanout watch', cleanup: 'cleanup report' } as const;

const skippedText =
  'Nothing was started: the last run has not ended, and this schedule skips runs meanwhile (--overlap).';

const pastTense = { pause: 'paused', resume: 'resumed', remove: 'removed' } as const;

export async function changeOne(
  change: ScheduleChange,
  { name, json }: JsonOption & { readonly name: string },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  await withPlatform(context, {}, async ({ temporal, config }, reporter) => {
    if (change === 'resume') await warnOfEmbedded(config, reporter);
    const { changeSchedule } = await import('../../workflow-client/schedules/schedule-client.js');
    return changeSchedule(temporal, change, { deployment: config.deployment, name });
  });
  if (json) return printJson(io.stdout, { name, change, error: null });
  io.stdout.write(`${name} ${pastTense[change]}\n`);
}
