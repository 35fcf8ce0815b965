/** Runs one command against the service: the configured one, otherwise the one of the embedded stack. */
import type { SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import type { CommandContext } from '../command.js';
import type { ServiceReads } from './ask-service.js';
import { withPlatform } from './with-platform.js';

export interface ServiceAtHand {
  /** Makes each call once. */
  readonly service: SandboxClient;
  /** Repeats a read while its failure may be temporary. */
  readonly reads: ServiceReads;
  /** The configuration. Its `sandboxService` is the service in use. */
  readonly config: Config;
}

export async function withService<T>(context: CommandContext, act: (at: ServiceAtHand) => Promise<T>): Promise<T> {
  const { io } = context;
  const config = await io.readConfig();
  const { sandboxService, patienceMs } = config;
  if (!sandboxService)
    return withPlatform(context, {}, ({ service, reads, config: full }) => act({ service, reads, config: full }));
  const { withReads } = await import('./check-service.js');
  const notice = (text: string) => void io.stderr.write(`${text}\n`);
  return withReads(sandboxService, { patienceMs, signal: io.interrupted, notice }, (reads, service) =>
    act({ service, reads, config }),
  );
}
