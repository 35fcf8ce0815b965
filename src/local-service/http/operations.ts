import { accountOperations } from './handlers/account.js';
import { fileOperations } from './handlers/files.js';
import { notYetOperations } from './handlers/not-yet.js';
import { promptOperations } from './handlers/prompts.js';
import { sandboxOperations } from './handlers/sandboxes.js';
import { stopOperations } from './handlers/stops.js';
import { webhookOperations } from './handlers/webhooks.js';
import type { Operations } from './operation.js';

/** Every operation of the endpoint table. */
export function allOperations(options: { readonly strictWebhookUrls: boolean }): Operations {
  return {
    ...notYetOperations,
    ...accountOperations,
    ...sandboxOperations,
    ...stopOperations,
    ...promptOperations,
    ...fileOperations,
    ...webhookOperations({ strictUrls: options.strictWebhookUrls }),
  };
}
