/** `sandflow schedule run-now`, `pause`, `resume` and `remove`. */

import type { ScheduleChange } from '../../workflow-client/schedules/schedule-client.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { programName } from '../program-name.js';
import { warnOfEmbedded } from './warn-of-embedded.js';

export async function changeOne(
  change: ScheduleChange,
  { name, json }: { readonly name: string; readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  await withPlatform(context, { needsWorker: change === 'run-now' }, async ({ temporal, config }, reporter) => {
    if (change === 'resume') await warnOfEmbedded(config, reporter);
    const { changeSchedule } = await import('../../workflow-client/schedules/schedule-client.js');
    return changeSchedule(temporal, change, { deployment: config.deployment, name });
  });
  if (json) return printJson(io.stdout, { name, change, error: null });
  io.stdout.write(`${name} ${pastTense[change]}\n`);
  if (change === 'run-now') io.stderr.write(`See its runs with: ${programName} schedule show ${name}\n`);
}

const pastTense = { pause: 'paused', resume: 'resumed', remove: 'removed', 'run-now': 'asked to run' } as const;
