/** Opens the platform for one command, and closes it afterwards. */
import { jobIdProblem } from '../../contract/addresses.js';
import type { CommandContext } from '../command.js';
import { createReporter, type Reporter } from '../output/reporter.js';
import { UsageError } from '../usage-error.js';
import { openPlatform, type Platform } from './platform.js';

export interface WithPlatformOptions {
  /** Id of the job or the batch of the command. It is checked before anything is started. */
  readonly jobId?: string;
  readonly batchId?: string;
  /** Warn if no worker polls the task queues of jobs. */
  readonly needsWorker?: boolean;
  readonly quiet?: boolean;
  readonly keysMayDiffer?: boolean;
}

export async function withPlatform<T>(
  { io }: CommandContext,
  { jobId, batchId, needsWorker = false, quiet = false, keysMayDiffer = false }: WithPlatformOptions,
  act: (platform: Platform, reporter: Reporter) => Promise<T>,
): Promise<T> {
  const config = await io.readConfig();
  const id = jobId ?? batchId;
  const problem = id === undefined ? undefined : jobIdProblem(config.deployment, id);
  if (problem) throw new UsageError(`${problem.replace(/^the job id/, batchId ? 'The batch id' : 'The job id')}.`);
  const reporter = createReporter({ stream: io.stderr, quiet });
  const platform = await openPlatform(config, { io, reporter, needsWorker, keysMayDiffer });
  try {
    return await act(platform, reporter);
  } finally {
    reporter.close();
    await platform.close();
  }
}
