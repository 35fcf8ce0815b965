/** Opens the platform for one command, and closes it afterwards. Loads it only then: a mistake is answered before. */
import type { CommandContext } from '../command.js';
import { createReporter, type Reporter } from '../output/reporter.js';
import type { OpenPlatformOptions, Platform } from './platform.js';

export interface WithPlatformOptions extends Partial<Pick<OpenPlatformOptions, 'needsWorker'>> {
  readonly quiet?: boolean;
  /** True: asks the configured service whether it takes the key, before anything is started. Default: false. */
  readonly checksService?: boolean;
}

export async function withPlatform<T>(
  { io }: CommandContext,
  { needsWorker = false, quiet = false, checksService = false }: WithPlatformOptions,
  act: (platform: Platform, reporter: Reporter) => Promise<T>,
): Promise<T> {
  const config = await io.readConfig();
  const { openPlatform } = await import('./platform.js');
  const reporter = createReporter({ stream: io.stderr, quiet });
  if (checksService && config.sandboxService) {
    const { checkService } = await import('./check-service.js');
    await checkService(config, { signal: io.interrupted, notice: (text) => reporter.notice(text) });
  }
  const platform = await openPlatform(config, { io, reporter, needsWorker });
  try {
    return await act(platform, reporter);
  } finally {
    reporter.close();
    await platform.close();
  }
}
