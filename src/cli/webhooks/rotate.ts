import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

export const addWebhooksRotate: AddCommand = (parent, context) => {
  parent
    .command('rotate')
    .description('Replace the secret of a webhook; the bridge accepts the previous one until the next rotation')
    .argument('<webhook>', 'id of the webhook')
    .option('--json', 'print one JSON object on stdout')
    .action(async (webhookId: string, options: { readonly json?: boolean }) => {
      const { io } = context;
      const { idPatterns } = await import('../../contract/ids.js');
      if (!idPatterns.webhook.test(webhookId)) {
        throw new UsageError(`"${webhookId}" is not a webhook id. \`sandflow webhooks list\` lists them.`);
      }
      const { withService } = await import('../connect/with-service.js');
      const { rotateWebhook } = await import('../../bridge/index.js');
      const { printJson } = await import('../output/json.js');
      const secretFile = await withService(context, async ({ service, config }) => {
        await rotateWebhook(service, webhookId, { secretFile: config.webhookSecretFile });
        return config.webhookSecretFile;
      });
      if (options.json) printJson(io.stdout, { webhookId, action: 'rotated', secretFile, error: null });
      else io.stderr.write(`The webhook ${webhookId} has a new secret, kept in ${secretFile}.\n`);
    });
};
