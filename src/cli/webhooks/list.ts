import type { AddCommand } from '../command.js';

export const addWebhooksList: AddCommand = (parent, context) => {
  parent
    .command('list')
    .description('List the webhooks of the account')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly json?: boolean }) => {
      const { io } = context;
      const { withService } = await import('../connect/with-service.js');
      const { printJson } = await import('../output/json.js');
      const { formatTable } = await import('../output/table.js');
      const { webhooks } = await withService(context, ({ reads }) => reads.listWebhooks());
      // Only the fields that are known to hold no secret.
      const shown = webhooks.map(({ id, name, url, events }) => ({ id, name: name ?? null, url, events }));
      if (options.json) return printJson(io.stdout, { webhooks: shown, error: null });
      if (shown.length === 0) return void io.stderr.write('No webhooks found.\n');
      const rows = shown.map(({ id, name, url, events }) => [id, name ?? '', url, events.join(',')]);
      io.stdout.write(formatTable(['ID', 'NAME', 'URL', 'EVENTS'], rows));
    });
};
