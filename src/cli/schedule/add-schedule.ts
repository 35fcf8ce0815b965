/** `sandflow schedule add`. */
import { type CleanupPolicy, isWindowOpen, windowsText } from '../../retention/index.js';
import type { Schedule } from '../../workflow-client/schedules/read-schedules.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { formatDuration } from '../units.js';
import type { AddOptions } from './options.js';
import { closeFile, readSchedule } from './read-schedule.js';
import { inZone } from './time-text.js';
import { warnOfEmbedded } from './warn-of-embedded.js';

/** A cleanup outside of the windows of its policy does nothing. */
function warnOfWindows(policy: CleanupPolicy, { nextAt, jitterMs }: Schedule, io: Pick<CliIo, 'stderr'>): void {
  const outside = nextAt.find((at) => {
    const firstMs = Date.parse(at);
    return !isWindowOpen(policy, firstMs) || !isWindowOpen(policy, firstMs + jitterMs);
  });
  if (outside === undefined) return;
  const when = `${inZone(outside, policy.timeZone)}${jitterMs > 0 ? `, and up to ${formatDuration(jitterMs)} later` : ''}`;
  io.stderr.write(
    `No window of the policy is open at ${when}. The cleanup then does nothing: it may act ${windowsText(policy)}.\n`,
  );
}

const done = { created: 'added', replaced: 'replaced', unchanged: 'is unchanged' } as const;

export async function addSchedule(
  name: string,
  file: string,
  options: AddOptions,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  const read = await readSchedule(name, file, options, context);
  try {
    const { what, schedule } = await withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
      await warnOfEmbedded(platform.config, reporter);
      const { prepareSchedule } = await import('./prepare-schedule.js');
      const { putSchedule } = await import('../../workflow-client/schedules/schedule-client.js');
      const prepared = await prepareSchedule(read, platform, { signal: io.interrupted, notices: reporter });
      const ifExists = options.replace ? 'replace' : 'refuse';
      const put = await putSchedule(platform.temporal, { ...prepared, ifExists });
      const { readSchedule: readBack } = await import('../../workflow-client/schedules/read-schedules.js');
      const { deployment } = platform.config;
      return { what: put, schedule: await readBack(platform.temporal, { deployment, name }) };
    });
    const { nextAt, times, jitterMs } = schedule;
    if (options.json) return printJson(io.stdout, { what, schedule, error: null });
    const [next] = nextAt;
    const when = next === undefined || times === null ? 'it never runs' : `next run ${inZone(next, times.zone)}`;
    const delay = jitterMs > 0 ? `, up to ${formatDuration(jitterMs)} later` : '';
    io.stdout.write(`${name} ${done[what]}; ${when}${delay}\n`);
    if (read.file.kind === 'cleanup') warnOfWindows(read.file.policy, schedule, io);
  } finally {
    await closeFile(read.file);
  }
}
