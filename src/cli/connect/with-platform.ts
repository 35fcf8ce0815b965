/** Runs one command on the platform and leaves it in order. */
import type { CommandContext } from '../command.js';
import { createReporter, type Reporter } from '../output/reporter.js';
import { UsageError } from '../usage-error.js';
import { openPlatform, type Platform } from './platform.js';

export interface WithPlatformOptions {
  /** The job that the command is about: checked before anything is started. */
  readonly jobId?: string;
  /** Warn where nobody takes the tasks of jobs. */
  readonly needsWorker?: boolean;
  readonly quiet?: boolean;
  readonly keysMayDiffer?: boolean;
}

export async function withPlatform<T>(
  { io }: CommandContext,
  { jobId, needsWorker = false, quiet = false, keysMayDiffer = false }: WithPlatformOptions,
  act: (platform: Platform, reporter: Reporter) => Promise<T>,
): Promise<T> {
  const config = await io.readConfig();
  if (jobId !== undefined) {
    const { jobIdProblem } = await import('../../contract/addresses.js');
    const problem = jobIdProblem(config.deployment, jobId);
    if (problem) throw new UsageError(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
  }
  const reporter = createReporter({ stream: io.stderr, quiet });
  const platform = await openPlatform(config, { io, reporter, needsWorker, keysMayDiffer });
  try {
    return await act(platform, reporter);
  } finally {
    reporter.close();
    await platform.close();
  }
}
