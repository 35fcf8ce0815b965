import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

export const addWebhooksDelete: AddCommand = (parent, context) => {
  parent
    .command('delete')
    .description('Delete a webhook and its queued deliveries')
    .argument('<webhook>', 'id of the webhook')
    .option('--json', 'print one JSON object on stdout')
    .action(async (webhookId: string, options: { readonly json?: boolean }) => {
      const { io } = context;
      const { idPatterns } = await import('../../contract/ids.js');
      if (!idPatterns.webhook.test(webhookId)) {
        throw new UsageError(`"${webhookId}" is not a webhook id. \`sandflow webhooks list\` lists them.`);
      }
      const { withService } = await import('../connect/with-service.js');
      const { printJson } = await import('../output/json.js');
      await withService(context, ({ service }) => service.deleteWebhook(webhookId));
      if (options.json) printJson(io.stdout, { webhookId, deleted: true, error: null });
      else io.stderr.write(`Deleted webhook ${webhookId}. A delivery in progress can still arrive.\n`);
    });
};
