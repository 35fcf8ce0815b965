import type { AddCommand } from '../command.js';

export const addDev: AddCommand = (parent, context) => {
  parent
    .command('dev')
    .description('Run the embedded stack in the foreground and say where it is')
    .option('--ready-json', 'print one JSON line on stdout when it serves')
    .action(async (options: { readonly readyJson?: boolean }) => {
      const { serveDev } = await import('./serve-dev.js');
      context.exitCode = await serveDev(options, context.io);
    });
};
