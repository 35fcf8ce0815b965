/** Stores what a schedule runs, and creates or replaces it. */
import { cut } from '../../contract/workflow-safe/stored-text.js';
import { type PutSchedule, putSchedule } from '../../workflow-client/schedules/schedule-client.js';
import type { Platform } from '../connect/platform.js';
import type { CliIo } from '../io.js';
import type { Notices } from '../output/reporter.js';
import type { ReadSchedule } from './read-schedule.js';
import { storeWork } from './scheduled-work.js';

/** The whole text of a prompt is part of the work. */
const longestWord = 200;

export async function putRead(
  { command, words, ...schedule }: ReadSchedule,
  ifExists: 'refuse' | 'replace',
  platform: Platform,
  options: { readonly io: Pick<CliIo, 'interrupted' | 'readConfig'>; readonly notices: Notices },
): Promise<PutSchedule> {
  const { deployment, taskQueue } = platform.config;
  const work = await storeWork(schedule.name, command, platform, options);
  return putSchedule(platform.temporal, {
    ...schedule,
    deployment,
    taskQueue,
    work,
    command: words.map((word) => cut(word, longestWord)),
    ifExists,
  });
}
