/** Runs the local Sandbox Service as a process. */
import { createLocalService, type LocalServiceOptions } from '../../local-service/src/index.js';
import { serve } from './entry.js';

export interface ServiceSettings {
  readonly directory: string;
  readonly apiKey: string;
  readonly timings: LocalServiceOptions['timings'];
}

await serve<ServiceSettings>(async (settings) => {
  const service = await createLocalService({ ...settings, isolation: 'plain', maxCallRecords: 2_000_000 });
  const { url } = await service.listen();
  return { url, close: () => service.close() };
});
