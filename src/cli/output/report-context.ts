/** Collects what the report of a batch needs besides the results: the price of machine-time, and where the UI is. */
import type { SandboxClient } from '../../client/index.js';
import type { ReportContext } from '../../report/overview.js';
import type { TemporalUi } from './job-links.js';
import { findDollarsPerSecond } from './price.js';

/** Never throws: if the service does not answer, the report shows no amounts of money. */
export async function readReportContext(platform: {
  readonly service: Pick<SandboxClient, 'listSandboxes'>;
  readonly ui: TemporalUi | undefined;
  readonly config: { readonly deployment: string };
}): Promise<ReportContext & { readonly dollarsPerSecond: number | null }> {
  const { service, ui, config } = platform;
  return {
    dollarsPerSecond: await findDollarsPerSecond(service),
    ui: ui ? { ...ui, deployment: config.deployment } : null,
  };
}
