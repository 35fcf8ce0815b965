/** Opens the platform for one command about a batch, and closes it afterwards. */
import { jobIdProblem } from '../../contract/addresses.js';
import type { CommandContext } from '../command.js';
import { openPlatform, type Platform } from '../connect/platform.js';
import { createReporter } from '../output/reporter.js';
import { UsageError } from '../usage-error.js';
import { type BatchView, createBatchView } from './progress/batch-view.js';

export interface WithBatchOptions {
  /** Checked before anything starts. */
  readonly batchId?: string;
  readonly quiet?: boolean;
}

export async function withBatch<T>(
  { io }: CommandContext,
  { batchId, quiet = false }: WithBatchOptions,
  act: (platform: Platform, view: BatchView) => Promise<T>,
): Promise<T> {
  const config = await io.readConfig();
  const problem = batchId === undefined ? undefined : jobIdProblem(config.deployment, batchId);
  if (problem) throw new UsageError(`${problem.replace(/^the job id/, 'The batch id')}.`);
  const reporter = createReporter({ stream: io.stderr, quiet });
  const platform = await openPlatform(config, { io, reporter, needsWorker: true });
  reporter.close();
  const view = createBatchView({ stream: io.stderr, quiet });
  try {
    return await act(platform, view);
  } finally {
    view.close();
    await platform.close();
  }
}
