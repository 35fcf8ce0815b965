/** Stores what a schedule runs. The schedule is still unchanged then. */
import { cut } from '../../contract/workflow-safe/stored-text.js';
import type { PutScheduleOptions } from '../../workflow-client/schedules/schedule-client.js';
import { checkSchedule } from '../../workflow-client/schedules/schedule-input.js';
import type { Platform } from '../connect/platform.js';
import type { CliIo } from '../io.js';
import type { Notices } from '../output/reporter.js';
import type { ReadSchedule } from './read-schedule.js';
import { storeWork } from './scheduled-work.js';

/** The whole text of a prompt is part of the work. */
const longestWord = 200;

/** @throws SandflowError as `putSchedule`, before it changes anything; what the command itself throws */
export async function preparedRead(
  { command, words, ...schedule }: ReadSchedule,
  platform: Platform,
  options: { readonly io: Pick<CliIo, 'interrupted' | 'readConfig'>; readonly notices: Notices },
): Promise<PutScheduleOptions> {
  const { deployment, taskQueue } = platform.config;
  const work = await storeWork(schedule.name, command, platform, options);
  const prepared = { ...schedule, deployment, taskQueue, work, command: words.map((word) => cut(word, longestWord)) };
  checkSchedule(prepared);
  return prepared;
}
