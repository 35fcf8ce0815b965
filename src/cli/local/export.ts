import type { AddCommand } from '../command.js';

export const addLocalExport: AddCommand = (parent, context) => {
  parent
    .command('export')
    .description('Export the state of a running local service to a file: records, disks, snapshots and secrets')
    .argument('<file>', 'output file, a gzipped tar; an existing file is replaced')
    .option('--json', 'print one JSON object on stdout')
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { io } = context;
      const { createWriteStream } = await import('node:fs');
      const { rename, rm, stat } = await import('node:fs/promises');
      const { resolve } = await import('node:path');
      const { pipeline } = await import('node:stream/promises');
      const { withLocalAdmin } = await import('../connect/local-admin.js');
      const { printJson } = await import('../output/json.js');
      const path = resolve(io.cwd, file);
      const unfinished = `${path}.unfinished-${process.pid}`;
      try {
        await withLocalAdmin(context, async (admin) => {
          // Only its owner may read it: there are keys and signing secrets in it.
          await pipeline(await admin.download('/export'), createWriteStream(unfinished, { mode: 0o600 }));
        });
        await rename(unfinished, path);
      } finally {
        await rm(unfinished, { force: true });
      }
      const { size: sizeBytes } = await stat(path);
      if (options.json) return printJson(io.stdout, { file: path, sizeBytes, error: null });
      io.stderr.write(`Exported the state to ${path} (${sizeBytes} bytes). The file contains secrets.\n`);
    });
};
