import { type ResolveHost, resolveBySystem } from '../webhooks/public-lookup.js';
import { accountOperations } from './handlers/account.js';
import { apiKeyOperations } from './handlers/api-keys.js';
import { environmentOperations } from './handlers/environments.js';
import { fileOperations } from './handlers/files.js';
import { forkOperations } from './handlers/fork.js';
import { machineOperations } from './handlers/machine.js';
import { promptOperations } from './handlers/prompts.js';
import { repoOperations } from './handlers/repos.js';
import { sandboxOperations } from './handlers/sandboxes.js';
import { secretOperations } from './handlers/secrets.js';
import { sharingOperations } from './handlers/sharing.js';
import { snapshotOperations } from './handlers/snapshots.js';
import { stopOperations } from './handlers/stops.js';
import { webhookOperations } from './handlers/webhooks.js';
import type { Operations } from './operation.js';

/** Every operation of the endpoint table. */
export function allOperations(options: {
  readonly strictWebhookUrls: boolean;
  /** Default: the system's resolver. */
  readonly resolveHost?: ResolveHost;
}): Operations {
  const { strictWebhookUrls: strictUrls, resolveHost = resolveBySystem } = options;
  return {
    ...accountOperations,
    ...apiKeyOperations,
    ...sharingOperations,
    ...sandboxOperations,
    ...forkOperations,
    ...snapshotOperations,
    ...machineOperations,
    ...stopOperations,
    ...promptOperations,
    ...fileOperations,
    ...environmentOperations,
    ...secretOperations,
    ...repoOperations,
    ...webhookOperations({ strictUrls, resolveHost }),
  };
}
