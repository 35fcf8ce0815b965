/** Runs one command against the service: the configured one, otherwise the one of the embedded stack. */
import type { SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import type { CommandContext } from '../command.js';
import { createAsk } from './ask-service.js';
import { clientOf } from './check-service.js';
import { createServiceReads, type ServiceReads } from './service-reads.js';
import { withPlatform } from './with-platform.js';

export interface ServiceAtHand {
  /** Each call is one attempt. */
  readonly service: SandboxClient;
  /** For what is only read. */
  readonly reads: ServiceReads;
  /** With `sandboxService` of whichever service this is. */
  readonly config: Config;
}

export async function withService<T>(context: CommandContext, act: (at: ServiceAtHand) => Promise<T>): Promise<T> {
  const config = await context.io.readConfig();
  if (!config.sandboxService)
    return withPlatform(context, {}, ({ service, reads, config: full }) => act({ service, reads, config: full }));
  const service = clientOf(config.sandboxService);
  try {
    const ask = createAsk({
      apiUrl: config.sandboxService.apiUrl,
      patienceMs: config.patienceMs,
      signal: context.io.interrupted,
      notice: (text) => context.io.stderr.write(`${text}\n`),
    });
    return await act({ service, reads: createServiceReads(service, ask), config });
  } finally {
    await service.close();
  }
}
