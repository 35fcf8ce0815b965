/** `sandflow schedule apply`: makes the schedules of a deployment those of a file. */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { scheduleOverlaps } from '../../protocol/schedule-overlaps.js';
import { readYaml } from '../../settings/read-yaml.js';
import type { PutScheduleOptions } from '../../workflow-client/schedules/schedule-client.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { formatTable, tableWidth } from '../output/table.js';
import { readTextFile } from '../text-file.js';
import { UsageError } from '../usage-error.js';
import { type ApplyOptions, defaultCatchUp } from './options.js';
import { closeFile, type ReadSchedule, readSchedule } from './read-schedule.js';
import { warnOfEmbedded } from './warn-of-embedded.js';

/** Each field is that of the option, with its default. */
const fileSchema = z.strictObject({
  schedules: z
    .array(
      z.strictObject({
        name: z.string(),
        file: z.string().min(1, 'must be the file of a job, a batch or a cleanup'),
        cron: z.string().optional(),
        zone: z.string().optional(),
        overlap: z.enum(scheduleOverlaps).default('skip'),
        jitter: z.preprocess((value) => (value === 0 ? '0' : value), z.string()).default('0'),
        catchUp: z.string().default(defaultCatchUp),
      }),
    )
    .superRefine((schedules, context) => {
      for (const [at, { name }] of schedules.entries()) {
        const isTwice = schedules.findIndex((one) => one.name === name) < at;
        if (isTwice) context.addIssue({ code: 'custom', path: [at, 'name'], message: 'is there twice' });
      }
    }),
});

export async function applySchedules(file: string, options: ApplyOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  context.undone = 'changed no schedule';
  const wishes = await readFileOf(file, io.cwd);
  if (options.removeOthers && wishes.length === 0 && !options.yes) {
    throw new UsageError(
      `${file} lists no schedule, so --remove-others would remove every schedule of this deployment. Add --yes if you mean that.`,
    );
  }
  const besideFile: CommandContext = { ...context, io: { ...io, cwd: dirname(resolve(io.cwd, file)) } };
  const reads: ReadSchedule[] = [];
  try {
    // Everything is checked before anything is changed.
    for (const wish of wishes) reads.push(await readSchedule(wish, besideFile).catch(named(file, wish.name)));
    const changed = await change(file, reads, options, context);
    if (options.json) return printJson(io.stdout, { schedules: changed, error: null });
    const rows = changed.map(({ name, what }) => [name, what]);
    if (rows.length > 0) io.stdout.write(formatTable(['SCHEDULE', 'DONE'], rows, { width: tableWidth(io.stdout) }));
  } finally {
    for (const read of reads) await closeFile(read.file);
  }
}

interface Changed {
  readonly name: string;
  readonly what: 'created' | 'replaced' | 'unchanged' | 'removed';
}

function change(
  file: string,
  reads: readonly ReadSchedule[],
  options: ApplyOptions,
  context: CommandContext,
): Promise<Changed[]> {
  const { io } = context;
  return withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
    await warnOfEmbedded(platform.config, reporter);
    const { prepareSchedule } = await import('./prepare-schedule.js');
    const { changeSchedule, putSchedule, scheduleNames } = await import(
      '../../workflow-client/schedules/schedule-client.js'
    );
    const { deployment } = platform.config;
    const prepared: PutScheduleOptions[] = [];
    // The service may refuse one of them, so nothing is changed before all are prepared.
    for (const read of reads) {
      prepared.push(await prepareSchedule(read, platform, { io, notices: reporter }).catch(named(file, read.name)));
    }
    const changed: Changed[] = [];
    context.undone = undefined;
    for (const one of prepared) {
      changed.push({ name: one.name, what: await putSchedule(platform.temporal, { ...one, ifExists: 'replace' }) });
    }
    if (!options.removeOthers) return changed;
    const wanted = new Set(reads.map(({ name }) => name));
    for (const name of await scheduleNames(platform.temporal, deployment)) {
      if (wanted.has(name)) continue;
      await changeSchedule(platform.temporal, 'remove', { deployment, name });
      changed.push({ name, what: 'removed' });
    }
    return changed;
  });
}

function named(file: string, name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${file}: schedule ${name}: ${error.message}`, { cause: error });
  };
}

async function readFileOf(file: string, cwd: string): Promise<z.output<typeof fileSchema>['schedules']> {
  const text = await readTextFile(resolve(cwd, file), file);
  const refuse = (lines: readonly string[], cause?: unknown) =>
    new UsageError(`${file} is no list of schedules:\n  ${lines.join('\n  ')}`, { cause });
  return readYaml(text, { file, schema: fileSchema, whole: 'the file', refuse }).schedules;
}
