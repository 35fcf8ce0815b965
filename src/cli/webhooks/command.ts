import type { AddCommand } from '../command.js';
import { addWebhooksDelete } from './delete.js';
import { addWebhooksEnsure } from './ensure.js';
import { addWebhooksList } from './list.js';
import { addWebhooksRotate } from './rotate.js';

/** `sandflow webhooks`: the registration of the bridge at the service. Secrets go to their file and are never printed. */
export const addWebhooks: AddCommand = (parent, context) => {
  const webhooks = parent.command('webhooks').description('Register the bridge with the service, and manage webhooks');
  for (const add of [addWebhooksEnsure, addWebhooksList, addWebhooksRotate, addWebhooksDelete]) add(webhooks, context);
};
