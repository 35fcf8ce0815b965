/** `sandflow continue`, after its command line was checked: starts a job that follows up on an earlier one. */
import { followUpOf } from '../../workflow-client/jobs/follow-up.js';
import type { CommandContext } from '../command.js';
import { parseGetPairs } from '../run/file-pairs.js';
import type { ContinueJobOptions } from './options.js';
import type { ContinueCommand } from './read-rerun.js';
import { startFromEarlier } from './start-from-earlier.js';

/** @returns the exit code */
export function continueEarlier(
  jobId: string,
  command: ContinueCommand,
  options: ContinueJobOptions,
  context: CommandContext,
): Promise<number> {
  const { newJobId, prompt } = command;
  const { provider, model, effort: reasoningEffort, end } = options;
  const collect = parseGetPairs(options.get).map(({ remote }) => remote);
  const given = { newJobId, prompt, provider, model, reasoningEffort, collect, end };
  return startFromEarlier(jobId, command, {
    ...{ options, context },
    startedText: `Job ${newJobId} started; it continues ${jobId}.`,
    read: (temporal, earlier) => followUpOf(temporal, earlier, given),
  });
}
