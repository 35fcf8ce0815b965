import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

export const addLocalReset: AddCommand = (parent, context) => {
  parent
    .command('reset')
    .description('Delete every sandbox, webhook and record of a running local service')
    .option('--yes', 'confirm; this cannot be undone')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly yes?: boolean; readonly json?: boolean }) => {
      const { io } = context;
      if (!options.yes) throw new UsageError('This deletes every sandbox of the local service. Confirm with --yes.');
      const { withLocalAdmin } = await import('../connect/local-admin.js');
      const { printJson } = await import('../output/json.js');
      await withLocalAdmin(context, (admin) => admin.call('POST', '/reset'));
      if (options.json) return printJson(io.stdout, { reset: true, error: null });
      io.stderr.write('The local service is empty.\n');
    });
};
