import type { ResolveHost } from '../webhooks/public-address.js';
import { accountOperations } from './handlers/account.js';
import { apiKeyOperations } from './handlers/api-keys.js';
import { environmentOperations } from './handlers/environments.js';
import { fileOperations } from './handlers/files.js';
import { machineOperations } from './handlers/machine.js';
import { promptOperations } from './handlers/prompts.js';
import { sandboxOperations } from './handlers/sandboxes.js';
import { snapshotOperations } from './handlers/snapshots.js';
import { webhookOperations } from './handlers/webhooks.js';
import type { Operations } from './operation.js';

/** Every operation of the endpoint table. */
export function allOperations(options: {
  readonly strictUrls: boolean;
  readonly resolveHost: ResolveHost;
}): Operations {
  return {
    ...accountOperations,
    ...apiKeyOperations,
    ...sandboxOperations,
    ...snapshotOperations,
    ...machineOperations,
    ...promptOperations,
    ...fileOperations,
    ...environmentOperations,
    ...webhookOperations(options),
  };
}
