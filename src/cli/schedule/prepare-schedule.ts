/** Stores what a schedule runs. The schedule is still unchanged then. */

import { withoutSecrets } from '../../errors/without-secrets.js';
import { cut } from '../../texts/length.js';
import type { PutScheduleOptions } from '../../workflow-client/schedules/schedule-client.js';
import { checkSchedule } from '../../workflow-client/schedules/schedule-input.js';
import type { Platform } from '../connect/platform.js';
import type { CliIo } from '../io.js';
import type { Notices } from '../output/reporter.js';
import type { ReadSchedule } from './read-schedule.js';
import { storeWork } from './store-work.js';

/** The whole text of a prompt is part of the work. */
const longestWord = 200;

/** @throws SandflowError as `putSchedule`, before it changes anything; what the file itself throws */
export async function prepareSchedule(
  { file, ...schedule }: ReadSchedule,
  platform: Platform,
  options: { readonly io: Pick<CliIo, 'interrupted'>; readonly notices: Notices },
): Promise<PutScheduleOptions> {
  const { deployment, taskQueue } = platform.config;
  const work = await storeWork(schedule.name, file, platform, options);
  const prepared = { ...schedule, deployment, taskQueue, work, command: wordsToKeep(file.words) };
  checkSchedule(prepared);
  return prepared;
}

/** A secret is removed before it could be cut. */
function wordsToKeep(words: readonly string[]): string[] {
  return words.map((word) => cut(withoutSecrets(word), longestWord));
}
