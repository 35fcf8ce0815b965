/**
 * How the service can do otherwise than sandflow assumes, for tests of clients: one switch at least for each assumption, under
 * its id. `A-….word` is another way in which the same assumption can be wrong. The others belong to no assumption.
 */
import type { AssumptionId } from '../../../src/contract/assumptions.js';
import type { Deviation } from './deviation.js';
import { ofAnswers } from './of-answers.js';
import { ofSandboxes } from './of-sandboxes.js';
import { ofWork } from './of-work.js';

function all<Name extends string>(how: 'inside' | 'refused', ...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, how])) as Record<Name, typeof how>;
}

const table = {
  ...all('inside', 'A-access-refusals', 'A-auto-stop-renewal', 'A-auto-stop-renewal.refused', 'A-cancelled-key'),
  ...all('inside', 'A-create-fields', 'A-deleted-key', 'A-idempotency-body', 'A-fork-conversations', 'A-list-price'),
  ...all('inside', 'A-standing', 'A-snapshot-access', 'A-snapshot-before', 'A-periodic-snapshots', 'A-conversation'),
  ...all('inside', 'A-machine-variables', 'A-agent-logins', 'A-sandbox-variables', 'A-repo-clone', 'A-repo-host-login'),
  ...all('inside', 'A-rate-limits', 'A-late-calls', 'A-environment-update', 'A-limited-keys', 'A-webhook-retry'),
  ...all('inside', 'legacy-deliveries'),
  ...all('refused', 'A-fork-moment', 'A-failing-stop', 'A-stop-states', 'A-repo-selection', 'A-environment-upgrade'),
  ...all('refused', 'A-env-contents', 'A-secret-files', 'A-key-creation', 'A-key-presets', 'A-local-webhook-urls'),
  ...ofSandboxes,
  ...ofWork,
  ...ofAnswers,
} satisfies Readonly<Record<AssumptionId, Deviation>>;

/** The name of a deviation. */
export type DeviationName = keyof typeof table;

export const deviations: Readonly<Record<DeviationName, Deviation>> = table;

/** Every name. */
export const deviationNames = Object.keys(table) as readonly DeviationName[];
