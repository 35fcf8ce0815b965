import type { Client } from '@temporalio/client';
import { createProbe, type Probe } from '../temporal/probe.js';
import type { SecretSource } from './bridge-options.js';

/** Says why the bridge cannot take a delivery now. */
export function createReadiness(
  client: Client,
  secrets: SecretSource,
  options: { readonly maxAgeMs?: number; readonly timeoutMs?: number } = {},
): Probe {
  return createProbe(
    client,
    async (answers) => {
      try {
        if ((await secrets()).length === 0) return 'no webhook secret';
      } catch {
        return 'the webhook secrets cannot be read';
      }
      const isReached = await answers(({ workflowService }) => workflowService.getSystemInfo({}));
      return isReached ? undefined : 'Temporal cannot be reached';
    },
    options,
  );
}
