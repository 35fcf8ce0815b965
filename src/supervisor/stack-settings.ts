import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { localServiceProgram } from './local-service-program.js';

/**
 * A stack starts every part that is not configured. If the setting of the service is missing by mistake, the stack
 * would start a local service instead of using the configured one.
 * @throws SandflowError `bad_configuration`
 */
export function requireStackSettings({
  noLocalService,
  sandboxService,
}: Pick<Config, 'noLocalService' | 'sandboxService'>): void {
  if (noLocalService !== undefined) throw new SandflowError('bad_configuration', noLocalService);
  if (sandboxService === undefined) localServiceProgram();
}
