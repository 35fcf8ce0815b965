import type { AddCommand } from '../command.js';

/** `sandflow notify`: what notifications of this installation are signed with. */
export const addNotify: AddCommand = (parent, context) => {
  const notify = parent.command('notify').description('What notifications are signed with');
  notify
    .command('secret')
    .description('Say in which file the signing secrets of this SANDFLOW_HOME are; make it where it is missing')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly json?: boolean }) => {
      const { showSecretFile } = await import('./secret-file.js');
      await showSecretFile(options, context);
    });
};
