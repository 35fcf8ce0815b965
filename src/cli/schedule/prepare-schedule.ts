/** Stores what a schedule runs, after asking the service about it as the command that runs the file does. */
import { withoutSecrets } from '../../errors/without-secrets.js';
import type { ScheduledWork } from '../../protocol/schedule.js';
import { cut } from '../../texts/length.js';
import type { PutScheduleOptions } from '../../workflow-client/schedules/schedule-client.js';
import { scheduledBatch, scheduledCleanup, scheduledJob } from '../../workflow-client/schedules/scheduled-work.js';
import { type CheckWantedOptions, checkWanted } from '../connect/check-wanted.js';
import type { Platform } from '../connect/platform.js';
import { filledItems } from '../fanout/run-fanout.js';
import { sayNamedAs } from '../fanout/survey.js';
import { jobInputOf } from '../run/job-input.js';
import { readPutFiles } from '../run/put-files.js';
import type { ReadSchedule } from './read-schedule.js';
import type { ScheduledFile } from './scheduled-file.js';

/** The whole text of a prompt is part of the work. */
const longestWord = 200;

/** @throws what the file itself throws */
export async function prepareSchedule(
  { file, ...schedule }: ReadSchedule,
  platform: Platform,
  asking: Asking,
): Promise<PutScheduleOptions> {
  const { deployment, taskQueue } = platform.config;
  const work = await storeWork(schedule.name, file, platform, asking);
  // A secret is removed before it could be cut.
  const command = file.words.map((word) => cut(withoutSecrets(word), longestWord));
  return { ...schedule, deployment, taskQueue, work, command };
}

type Asking = Pick<CheckWantedOptions, 'signal' | 'notices'>;

/** @param schedule name of the schedule */
async function storeWork(
  schedule: string,
  file: ScheduledFile,
  platform: Platform,
  asking: Asking,
): Promise<ScheduledWork> {
  const { temporal, config, service } = platform;
  const storing = { ...platform.starting, schedule };
  switch (file.kind) {
    case 'job': {
      const { read, options } = file;
      if (options.check) await checkWanted(read.wanted, { ...asking, service });
      const put = await readPutFiles(read.localFiles, platform.keepInput);
      const { jobId: _, ...input } = jobInputOf(options, { ...read.parts, put });
      return scheduledJob(temporal, input, { ...storing, labels: read.labels });
    }
    case 'batch': {
      const { read, options } = file;
      sayNamedAs(read.survey, asking.notices);
      if (options.check) await checkWanted(read.wanted, { ...asking, service });
      const put = await readPutFiles(read.prepareFiles, platform.keepInput);
      const { batchId: _, ...input } = read.inputOf(put);
      const items = filledItems(read, put, platform, asking.signal);
      return scheduledBatch(temporal, input, items, { ...storing, labels: read.labels });
    }
    case 'cleanup':
      return scheduledCleanup({ deployment: config.deployment, policy: file.policy });
  }
}
