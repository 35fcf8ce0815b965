import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

export const addLocalSeed: AddCommand = (parent, context) => {
  parent
    .command('seed')
    .description('Add sandboxes, webhooks, environments and accounts to a running local service, atomically')
    .argument('<file>', 'a JSON document')
    .option('--json', 'print one JSON object on stdout, with the created keys and secrets')
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { io } = context;
      const { readFile } = await import('node:fs/promises');
      const { resolve } = await import('node:path');
      const { withLocalAdmin } = await import('../connect/local-admin.js');
      const { printJson } = await import('../output/json.js');
      const path = resolve(io.cwd, file);
      const body = await readFile(path, 'utf8').catch((cause: unknown) => {
        throw new UsageError(`${path} cannot be read.`, { cause });
      });
      const made = await withLocalAdmin(context, (admin) =>
        admin.call('POST', '/seed', { body, contentType: 'application/json' }),
      );
      const { accounts, environments, sandboxes, webhooks } = made;
      if (options.json) return printJson(io.stdout, { accounts, environments, sandboxes, webhooks, error: null });
      const count = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
      io.stderr.write(
        `Created ${count(sandboxes)} sandboxes, ${count(webhooks)} webhooks, ${count(environments)} environments, ${count(accounts)} accounts.\n`,
      );
    });
};
