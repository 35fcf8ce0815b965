/** Opens the platform for one command, and closes it afterwards. Loads it only then: a mistake is answered before. */
import type { CommandContext } from '../command.js';
import { createReporter, type Reporter } from '../output/reporter.js';
import type { Platform } from './platform.js';
import { requireId } from './require-id.js';

export interface WithPlatformOptions {
  /** Id of the job or the batch of the command. It is checked before anything is started. */
  readonly jobId?: string;
  readonly batchId?: string;
  /** Warn if no worker polls the task queues of jobs, or the clock of the local service is held. */
  readonly needsWorker?: boolean;
  readonly quiet?: boolean;
}

export async function withPlatform<T>(
  { io }: CommandContext,
  { jobId, batchId, needsWorker = false, quiet = false }: WithPlatformOptions,
  act: (platform: Platform, reporter: Reporter) => Promise<T>,
): Promise<T> {
  const config = await io.readConfig();
  const id = jobId ?? batchId;
  if (id !== undefined) requireId(config, id, batchId === undefined ? 'job' : 'batch');
  const { openPlatform } = await import('./platform.js');
  const reporter = createReporter({ stream: io.stderr, quiet });
  const platform = await openPlatform(config, { io, reporter, needsWorker });
  try {
    return await act(platform, reporter);
  } finally {
    reporter.close();
    await platform.close();
  }
}
