/** Opens the platform for one command, and closes it afterwards. Loads it only then: a mistake is answered before. */
import type { CommandContext } from '../command.js';
import { createReporter, type Reporter } from '../output/reporter.js';
import type { Platform } from './platform.js';

export interface WithPlatformOptions {
  /** Warn if no worker polls the task queues of jobs, or the clock of the local service is held. */
  readonly needsWorker?: boolean;
  readonly quiet?: boolean;
}

export async function withPlatform<T>(
  { io }: CommandContext,
  { needsWorker = false, quiet = false }: WithPlatformOptions,
  act: (platform: Platform, reporter: Reporter) => Promise<T>,
): Promise<T> {
  const config = await io.readConfig();
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
