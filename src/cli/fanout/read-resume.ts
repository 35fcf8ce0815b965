/** Checks the command line of `fanout resume`. Loads no heavy module, so that a mistake is answered at once. */

import { createTemplate } from '../../fanout/template.js';
import type { FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import type { CliIo } from '../io.js';
import { readTextsOrFiles } from '../run/read-prompts.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { requireWatch, UsageError } from '../usage-error.js';
import { policyOf } from './batch-input.js';
import type { ItemChange } from './changed-items.js';
import type { ResumeFanoutOptions } from './options.js';
import { requireResultPlaces } from './result-places.js';

/** What the command line says. */
export interface ResumeCommand {
  /** The parts of the policy that it changes. */
  readonly policy: Partial<FanoutPolicy>;
  /** The items to run; undefined for all that have not completed. */
  readonly only: readonly string[] | undefined;
  /** What changes about the items; undefined if nothing does. */
  readonly change: ItemChange | undefined;
}

/** @throws UsageError */
export async function readResume(
  batchId: string,
  options: ResumeFanoutOptions,
  io: Pick<CliIo, 'cwd'>,
): Promise<ResumeCommand> {
  const policy = policyOf('resume', options);
  requireWatch(options);
  parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  const only = options.only.length > 0 ? options.only : undefined;
  if (only && !options.retryFailed) throw new UsageError('Use --only or --no-retry-failed, not both.');
  if (only && policy.stopAt) {
    throw new UsageError('--only runs every item that it names. Leave out --first and --fail-fast.');
  }
  const change = await changeOfOptions(options, io.cwd);
  await requireResultPlaces(batchId, options, io);
  return { policy, only, change };
}

async function changeOfOptions(
  { prompt, provider, model, effort }: ResumeFanoutOptions,
  cwd: string,
): Promise<ItemChange | undefined> {
  const templates = await readTextsOrFiles(prompt, '--prompt', cwd);
  templates.forEach(createTemplate);
  const change = {
    templates,
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
  };
  return templates.length === 0 && Object.keys(change).length === 1 ? undefined : change;
}
