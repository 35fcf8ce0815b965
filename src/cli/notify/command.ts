import type { AddCommand } from '../command.js';

/** `sandflow notify`: manages the secrets that sign the notifications of this installation. */
export const addNotify: AddCommand = (parent, context) => {
  const notify = parent.command('notify').description('Manage the signing of notifications');
  notify
    .command('secret')
    .description('Print the file of the signing secrets of this SANDFLOW_HOME; create it if missing')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options) => (await import('./files.js')).showSecretFile(options, context));
};
