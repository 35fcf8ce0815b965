/** Runs one command against the service: the configured one, otherwise the one of the embedded stack. */
import type { CommandContext } from '../command.js';
import type { Platform } from './platform.js';
import { withPlatform } from './with-platform.js';

export type ServiceAtHand = Pick<Platform, 'service' | 'reads' | 'config'>;

export async function withService<T>(context: CommandContext, act: (at: ServiceAtHand) => Promise<T>): Promise<T> {
  const { io } = context;
  const config = await io.readConfig();
  const { sandboxService, patienceMs } = config;
  if (!sandboxService) return withPlatform(context, {}, act);
  const { withReads } = await import('./check-service.js');
  const notice = (text: string) => void io.stderr.write(`${text}\n`);
  return withReads(sandboxService, { patienceMs, signal: io.interrupted, notice }, (reads, service) =>
    act({ service, reads, config }),
  );
}
