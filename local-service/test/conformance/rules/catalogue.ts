/** Every rule of the specification, and the traps. */
import { accessRules } from './accounts/access.js';
import { accountRules } from './accounts/account.js';
import { apiKeyRules } from './accounts/api-keys.js';
import { authenticationRules } from './authentication-scope.js';
import { envelopeRules } from './envelope.js';
import { environmentRules } from './environments.js';
import { errorRules } from './errors.js';
import { eventDeliveryRules } from './events-delivery.js';
import { limitRules } from './limits.js';
import { desktopRules } from './machine/desktop.js';
import { fileAndCommandRules } from './machine/files-commands.js';
import { processRules } from './machine/processes.js';
import { promptRules } from './prompts.js';
import type { RuleRecord } from './rule-record.js';
import { createRules } from './sandboxes/create-fork-idempotency.js';
import { deletionRules } from './sandboxes/deletion.js';
import { sandboxFieldRules } from './sandboxes/fields.js';
import { hydrationRules } from './sandboxes/hydration.js';
import { snapshotRules } from './sandboxes/snapshots.js';
import { stateRules } from './sandboxes/states.js';
import { stopRules } from './sandboxes/stops.js';
import { trapRules } from './traps.js';
import { versioningRules } from './versioning-legacy.js';
import { webhookRules } from './webhooks.js';

/** Areas in the order of the specification. */
export const areas = {
  'Envelope and flow': envelopeRules,
  'Sandbox fields': sandboxFieldRules,
  Hydration: hydrationRules,
  Access: accessRules,
  Stops: stopRules,
  Processes: processRules,
  Environments: environmentRules,
  Webhooks: webhookRules,
  'Events and delivery': eventDeliveryRules,
  'API keys': apiKeyRules,
  'Authentication and scope': authenticationRules,
  States: stateRules,
  'Create, fork, resume, idempotency': createRules,
  Prompts: promptRules,
  'Files and commands': fileAndCommandRules,
  'Desktop and SSH': desktopRules,
  Deletion: deletionRules,
  Snapshots: snapshotRules,
  'Account and lists': accountRules,
  Errors: errorRules,
  Limits: limitRules,
  'Versions and the legacy surface': versioningRules,
  'The fifteen traps': trapRules,
} as const;

type Areas = typeof areas;
export type RuleId = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];

const byId = new Map<string, RuleRecord>();
for (const rules of Object.values<Readonly<Record<string, RuleRecord>>>(areas)) {
  for (const [id, record] of Object.entries(rules)) {
    if (byId.has(id)) throw new Error(`Two rules have the id "${id}".`);
    byId.set(id, record);
  }
}

export function ruleById(id: string): RuleRecord | undefined {
  return byId.get(id);
}
