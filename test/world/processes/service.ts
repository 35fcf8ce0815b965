/** Runs the local service of a world. It keeps its state when it is killed and started again. */
import { existsSync } from 'node:fs';
import { serve } from '../../../bench/processes/entry.js';
import { createLocalService, type LocalServiceOptions } from '../../../local-service/src/index.js';
import { worldEnvironment } from '../plan/plan.js';

/** Every other provider is not configured. */
const scriptedProviders = ['codex'];

export type ServiceSettings = Pick<LocalServiceOptions, 'directory' | 'apiKey' | 'port' | 'timings'>;

await serve<ServiceSettings>(async (settings) => {
  const isNew = !existsSync(settings.directory ?? '');
  const service = await createLocalService({
    ...settings,
    faultsEnabled: true,
    isolation: 'plain',
    scriptedProviders,
    maxCallRecords: 2_000_000,
  });
  if (isNew) service.setup.createEnvironment({ name: worldEnvironment, envContents: `PLACE=${worldEnvironment}` });
  const { url } = await service.listen();
  return { url, close: () => service.close() };
});
