import type { AddCommand } from '../command.js';

export const addDev: AddCommand = (parent, context) => {
  parent
    .command('dev')
    .description('Run the embedded stack in the foreground and print its addresses')
    .option('--ready-json', 'print one JSON line on stdout when ready')
    .action(async (options: { readonly readyJson?: boolean }) => {
      const { serveDev } = await import('./serve-dev.js');
      context.exitCode = await serveDev(options, context.io);
    });
};
