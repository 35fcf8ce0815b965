/** What the configuration alone says about the servers of a command. */
import type { Config } from '../../config.js';
import type { TemporalUi } from '../output/job-links.js';

/** True if nothing has to be started on this machine. */
export function isFullyConfigured(config: Pick<Config, 'temporal' | 'sandboxService'>): boolean {
  return config.temporal.configured && config.sandboxService !== undefined;
}

/** The UI of a configured Temporal server; undefined if its address is not configured. */
export function configuredUi({ temporal }: Pick<Config, 'temporal'>): TemporalUi | undefined {
  const { uiUrl, connect } = temporal;
  return uiUrl === undefined ? undefined : { url: uiUrl, namespace: connect.namespace ?? 'default' };
}
