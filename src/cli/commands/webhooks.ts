import type { AddCommand } from '../command.js';
import { addWebhooksDelete } from './webhooks-delete.js';
import { addWebhooksEnsure } from './webhooks-ensure.js';
import { addWebhooksList } from './webhooks-list.js';
import { addWebhooksRotate } from './webhooks-rotate.js';

/** `sandflow webhooks`: the registration of the bridge at the service. Secrets go to their file and are never printed. */
export const addWebhooks: AddCommand = (parent, context) => {
  const webhooks = parent.command('webhooks').description('Register the bridge at the service, and manage it');
  for (const add of [addWebhooksEnsure, addWebhooksList, addWebhooksRotate, addWebhooksDelete]) add(webhooks, context);
};
