import { idPatterns } from '../../contract/workflow-safe/ids.js';
import { jsonCommand, type OptionsOf, type Parent } from '../command.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

export const declareWebhooks = (parent: Parent) =>
  parent.command('webhooks').description('Register the bridge with the service, and manage webhooks');

export const declareConnect = (parent: Parent) =>
  parent
    .command('connect')
    .description('Register the bridge, keep its secret where the bridge reads it, and check both with a test delivery')
    .option(
      '--url <url>',
      'URL at which the service reaches the bridge (default: its own, for a service on this machine)',
    )
    .option('--name <name>', 'display name at the service (default: sandflow DEPLOYMENT)')
    .option('--rotate', 'replace the secret even if it is stored on this machine')
    .option(
      '--no-test',
      'only register, before the bridge runs: replace no secret, move nothing, send no test delivery',
    )
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      `
Safe to repeat. An existing registration of this home is used again. It moves to a new URL once a bridge has accepted a
test delivery there; until then it delivers as before. Any other registration at that URL gets a new secret. A running
stack of this home starts its bridge as soon as there is a secret.

A bridge does not start without a secret. To get one first: --no-test. Then start the bridge, and repeat without it.

Examples:
  sandflow webhooks connect                                                    the service runs on this machine
  sandflow webhooks connect --url https://bridge.example.com/webhooks/sandbox  an account; the URL leads to the bridge

Exit codes:
  0    the bridge accepted a test delivery through the URL, or --no-test registered it
  1    the test delivery was not accepted; a new registration stays, and an earlier one was not moved
`,
    );

export const declareList = (parent: Parent) => jsonCommand(parent, 'list', 'List the webhooks of the account');

function requireWebhookId(webhookId: string): string {
  if (idPatterns.webhook.test(webhookId)) return webhookId;
  throw new UsageError(`"${webhookId}" is not a webhook id. \`${programName} webhooks list\` lists them.`);
}

const withId = (parent: Parent, name: string, description: string) =>
  jsonCommand(parent, name, description).argument('<webhook>', 'id of the webhook', requireWebhookId);

const rotateText = 'Replace the secret of a webhook; the bridge accepts the previous one until the next rotation';

export const declareRotate = (parent: Parent) => withId(parent, 'rotate', rotateText);

export const declareDelete = (parent: Parent) => withId(parent, 'delete', 'Delete a webhook and its queued deliveries');

export type ConnectBridgeOptions = OptionsOf<typeof declareConnect>;
