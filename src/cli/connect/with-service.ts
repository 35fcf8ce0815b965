/** Runs one command against the service: the configured one, otherwise the one of the embedded stack. */
import type { SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import type { CommandContext } from '../command.js';
import { clientOf } from './check-service.js';
import { withPlatform } from './with-platform.js';

export interface ServiceAtHand {
  readonly service: SandboxClient;
  /** With `sandboxService` of whichever service this is. */
  readonly config: Config;
}

export async function withService<T>(context: CommandContext, act: (at: ServiceAtHand) => Promise<T>): Promise<T> {
  const config = await context.io.readConfig();
  if (!config.sandboxService)
    return withPlatform(context, {}, ({ service, config: full }) => act({ service, config: full }));
  const service = clientOf(config.sandboxService);
  try {
    return await act({ service, config });
  } finally {
    await service.close();
  }
}
