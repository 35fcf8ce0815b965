/** `sandflow jobs rerun`, after its command line was checked: runs the input of an earlier job as a new job. */
import { inputOfEarlier } from '../../workflow-client/jobs/rerun-job.js';
import type { CommandContext } from '../command.js';
import type { RerunJobOptions } from './options.js';
import type { RerunCommand } from './read-rerun.js';
import { startFromEarlier } from './start-from-earlier.js';

/** @returns the exit code */
export function rerunEarlier(
  jobId: string,
  command: RerunCommand,
  options: RerunJobOptions,
  context: CommandContext,
): Promise<number> {
  const { newJobId } = command;
  return startFromEarlier(jobId, command, {
    ...{ options, context },
    startedText: `Job ${newJobId} started with the input of ${jobId}.`,
    async read(temporal, earlier) {
      const { input, labels } = await inputOfEarlier(temporal, earlier);
      return { input: { ...input, jobId: newJobId }, labels };
    },
  });
}
