import type { AddCommand } from '../command.js';
import { checkUrl } from './check-url.js';
import { declareConnect, declareDelete, declareList, declareRotate, declareWebhooks } from './options.js';

/** `sandflow webhooks`: manages webhooks at the service. Secrets are written to a file and never printed. */
export const addWebhooks: AddCommand = (parent, context) => {
  const webhooks = declareWebhooks(parent);
  declareConnect(webhooks).action(async (options) => {
    if (options.url !== undefined) checkUrl(options.url);
    context.exitCode = await (await import('./connect-bridge.js')).connectBridge(options, context);
  });
  declareList(webhooks).action(async (options) =>
    (await import('./registrations.js')).listRegistrations(options, context),
  );
  declareRotate(webhooks).action(async (webhookId, options) =>
    (await import('./registrations.js')).rotateRegistration(webhookId, options, context),
  );
  declareDelete(webhooks).action(async (webhookId, options) =>
    (await import('./registrations.js')).deleteRegistration(webhookId, options, context),
  );
};
