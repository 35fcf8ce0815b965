import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

export const addLocalImport: AddCommand = (parent, context) => {
  parent
    .command('import')
    .description('Replace the state of a running local service with an export, atomically')
    .argument('<file>', 'a file from `sandflow local export`')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { io } = context;
      const { createReadStream } = await import('node:fs');
      const { access } = await import('node:fs/promises');
      const { resolve } = await import('node:path');
      const { withLocalAdmin } = await import('../connect/local-admin.js');
      const { printJson } = await import('../output/json.js');
      const path = resolve(io.cwd, file);
      await access(path).catch((cause: unknown) => {
        throw new UsageError(`${path} cannot be read.`, { cause });
      });
      const { sandboxes, snapshots, exportedAt } = await withLocalAdmin(context, (admin) =>
        admin.call('POST', '/import', { body: createReadStream(path), contentType: 'application/gzip' }),
      );
      if (options.json) return printJson(io.stdout, { sandboxes, snapshots, exportedAt, error: null });
      io.stderr.write(`Imported the state of ${exportedAt}: ${sandboxes} sandboxes, ${snapshots} snapshots.\n`);
    });
};
