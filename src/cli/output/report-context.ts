/** Collects what every report needs besides the results: the price of machine-time, and where the UI is. */
import type { ReportContext } from '../../report/index.js';
import type { Platform } from '../connect/platform.js';
import { findDollarsPerSecond } from './price.js';

/** Never throws: if the service does not answer, the report shows no amounts of money. */
export async function readReportContext({
  service,
  ui,
  config,
}: Pick<Platform, 'service' | 'ui' | 'config'>): Promise<ReportContext & { readonly dollarsPerSecond: number | null }> {
  return {
    dollarsPerSecond: await findDollarsPerSecond(service),
    ui: ui ? { ...ui, deployment: config.deployment } : null,
  };
}
