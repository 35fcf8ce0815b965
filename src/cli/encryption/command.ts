import type { AddCommand } from '../command.js';

/** `sandflow encryption`: keys of payloads and results. A key is printed by `new-key` only, to be kept in a file. */
export const addEncryption: AddCommand = (parent, context) => {
  const encryption = parent.command('encryption').description('Make keys for payloads, and see what is encrypted');

  encryption
    .command('new-key')
    .description('Print a line with a new key for the file that SANDFLOW_ENCRYPTION_KEYS_FILE names')
    .option('--id <id>', 'travels in clear beside what the key encrypts (default: the day)')
    .action(async ({ id = new Date().toISOString().slice(0, 10) }: { readonly id?: string }) => {
      const { newKeyLine } = await import('../../encryption/index.js');
      context.io.stdout.write(`${newKeyLine(id)}\n`);
      context.io.stderr.write('This is a secret. Keep it in a file of mode 600, and a copy where backups are kept.\n');
    });

  encryption
    .command('show')
    .description('Show the ids of the keys here, and those of the deployment')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly json?: boolean }) => {
      const { showEncryption } = await import('./show-encryption.js');
      await showEncryption(options, context);
    });

  encryption
    .command('off')
    .description('Let processes without keys start again; workers with keys announce them anew')
    .action(async () => {
      const { withPlatform } = await import('../connect/with-platform.js');
      const { forgetDeploymentKeys } = await import('../../temporal/deployment-keys.js');
      await withPlatform(context, {}, async ({ temporal, config: { deployment } }) => {
        await forgetDeploymentKeys(temporal, deployment);
        context.io.stderr.write(
          `The deployment ${deployment} has no keys any more. What was encrypted needs them still.\n`,
        );
      });
    });
};
