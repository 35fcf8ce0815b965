import type { AddCommand, OptionsOf, Parent } from '../command.js';

const ensure = (parent: Parent) =>
  parent
    .command('ensure')
    .description('Register the bridge, or adopt an existing registration; the secret goes to its file')
    .requiredOption('--url <url>', 'URL at which the service reaches the bridge: https://…/webhooks/sandbox')
    .option('--name <name>', 'display name at the service (default: sandflow DEPLOYMENT)')
    .option('--rotate', 'replace the secret, for example if the current one is lost')
    .option('--json', 'print one JSON object on stdout');

export type EnsureWebhookOptions = OptionsOf<typeof ensure>;

/** `sandflow webhooks`: manages webhooks at the service. Secrets are written to a file and never printed. */
export const addWebhooks: AddCommand = (parent, context) => {
  const webhooks = parent.command('webhooks').description('Register the bridge with the service, and manage webhooks');
  ensure(webhooks).action(async (options) => (await import('./registrations.js')).ensureRegistration(options, context));
  webhooks
    .command('list')
    .description('List the webhooks of the account')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options) => (await import('./registrations.js')).listRegistrations(options, context));
  webhooks
    .command('rotate')
    .description('Replace the secret of a webhook; the bridge accepts the previous one until the next rotation')
    .argument('<webhook>', 'id of the webhook')
    .option('--json', 'print one JSON object on stdout')
    .action(async (webhookId, options) =>
      (await import('./registrations.js')).rotateRegistration(webhookId, options, context),
    );
  webhooks
    .command('delete')
    .description('Delete a webhook and its queued deliveries')
    .argument('<webhook>', 'id of the webhook')
    .option('--json', 'print one JSON object on stdout')
    .action(async (webhookId, options) =>
      (await import('./registrations.js')).deleteRegistration(webhookId, options, context),
    );
};
