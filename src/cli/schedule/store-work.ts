/** Stores what a schedule runs, after asking the service about it as the command that runs the file does. */
import type { ScheduledWork } from '../../protocol/schedule.js';
import { scheduledBatch, scheduledCleanup, scheduledJob } from '../../workflow-client/schedules/scheduled-work.js';
import { checkWanted } from '../connect/check-wanted.js';
import type { Platform } from '../connect/platform.js';
import { filledItems } from '../fanout/run-fanout.js';
import type { CliIo } from '../io.js';
import type { Notices } from '../output/reporter.js';
import { jobInputOf } from '../run/job-input.js';
import { readPutFiles } from '../run/put-files.js';
import type { ScheduledFile } from './scheduled-file.js';

interface StoreOptions {
  readonly io: Pick<CliIo, 'interrupted'>;
  readonly notices: Notices;
}

/** @param schedule name of the schedule */
export async function storeWork(
  schedule: string,
  file: ScheduledFile,
  platform: Platform,
  { io, notices }: StoreOptions,
): Promise<ScheduledWork> {
  const { temporal, config, service, sharedResults: results } = platform;
  const asking = { service, signal: io.interrupted, notices };
  const storing = { schedule, results, promptInSummary: config.promptSummaries };
  switch (file.kind) {
    case 'job': {
      const { read, options } = file;
      if (options.check) await checkWanted(read.wanted, asking);
      const put = await readPutFiles(read.localFiles, platform.keepInput);
      const { jobId: _, ...input } = jobInputOf(options, { ...read.parts, put });
      return scheduledJob(temporal, input, { ...storing, labels: read.labels });
    }
    case 'batch': {
      const { read, options } = file;
      if (options.check) await checkWanted(read.wanted, asking);
      const { batchId: _, ...input } = read.inputOf(await readPutFiles(read.prepareFiles, platform.keepInput));
      const items = filledItems(read, platform, io.interrupted);
      return scheduledBatch(temporal, input, items, { ...storing, labels: read.labels });
    }
    case 'cleanup':
      return scheduledCleanup({ deployment: config.deployment, policy: file.policy });
  }
}
