import type { AddCommand } from '../command.js';

/**
 * `sandflow encryption`: manages the keys of payloads and results. Only `new-key` prints a key; the user keeps it in a
 * file.
 */
export const addEncryption: AddCommand = (parent, context) => {
  const encryption = parent.command('encryption').description('Create encryption keys, and show which are in use');

  encryption
    .command('new-key')
    .description('Print a new key as a line for the file that SANDFLOW_ENCRYPTION_KEYS_FILE names')
    .option('--id <id>', 'id of the key, stored unencrypted with the data (default: the date)')
    .action(async ({ id = new Date().toISOString().slice(0, 10) }) => {
      const { newKeyLine } = await import('../../encryption/index.js');
      context.io.stdout.write(`${newKeyLine(id)}\n`);
      context.io.stderr.write('This is a secret. Keep it in a file of mode 600, and back it up.\n');
    });

  encryption
    .command('show')
    .description('Show the key ids here and in the deployment')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options) => (await import('./show-encryption.js')).showEncryption(options, context));

  encryption
    .command('off')
    .description('Let processes without keys start again; a worker with keys announces them again')
    .action(async () => {
      const { withPlatform } = await import('../connect/with-platform.js');
      const { forgetDeploymentKeys } = await import('../../temporal/deployment-keys.js');
      await withPlatform(context, {}, async ({ temporal, config: { deployment } }) => {
        await forgetDeploymentKeys(temporal, deployment);
        context.io.stderr.write(
          `Deployment ${deployment} no longer requires keys. Keep them: data already encrypted still needs them.\n`,
        );
      });
    });
};
