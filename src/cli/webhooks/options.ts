import type { OptionsOf, Parent } from '../command.js';

export const declareWebhooks = (parent: Parent) =>
  parent.command('webhooks').description('Register the bridge with the service, and manage webhooks');

export const declareEnsure = (parent: Parent) =>
  parent
    .command('ensure')
    .description('Register the bridge, or adopt an existing registration; the secret is saved to its file')
    .requiredOption('--url <url>', 'URL at which the service reaches the bridge: https://…/webhooks/sandbox')
    .option('--name <name>', 'display name at the service (default: sandflow DEPLOYMENT)')
    .option('--rotate', 'replace the secret, for example if the current one is lost')
    .option('--json', 'print one JSON object on stdout');

export const declareList = (parent: Parent) =>
  parent
    .command('list')
    .description('List the webhooks of the account')
    .option('--json', 'print one JSON object on stdout');

export const declareRotate = (parent: Parent) =>
  parent
    .command('rotate')
    .description('Replace the secret of a webhook; the bridge accepts the previous one until the next rotation')
    .argument('<webhook>', 'id of the webhook')
    .option('--json', 'print one JSON object on stdout');

export const declareDelete = (parent: Parent) =>
  parent
    .command('delete')
    .description('Delete a webhook and its queued deliveries')
    .argument('<webhook>', 'id of the webhook')
    .option('--json', 'print one JSON object on stdout');

export type EnsureWebhookOptions = OptionsOf<typeof declareEnsure>;
