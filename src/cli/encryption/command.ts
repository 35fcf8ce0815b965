import type { AddCommand } from '../command.js';
import { declareEncryption, declareNewKey, declareOff } from './options.js';

/**
 * `sandflow encryption`: manages the keys of payloads and results. Only `new-key` prints a key; the user keeps it in a
 * file.
 */
export const addEncryption: AddCommand = (parent, context) => {
  const encryption = declareEncryption(parent);

  declareNewKey(encryption).action(async ({ id = new Date().toISOString().slice(0, 10) }) => {
    const { newKeyLine } = await import('../../encryption/index.js');
    context.io.stdout.write(`${newKeyLine(id)}\n`);
    context.io.stderr.write('This is a secret. Keep it in a file of mode 600, and back it up.\n');
  });

  declareOff(encryption).action(async () => {
    const { withPlatform } = await import('../connect/with-platform.js');
    const { forgetDeploymentKeys } = await import('../../temporal/deployment-keys.js');
    await withPlatform(context, {}, async ({ temporal, config: { deployment } }) => {
      await forgetDeploymentKeys(temporal, deployment);
      context.io.stderr.write(
        `Deployment ${deployment} no longer requires keys. Keep the keys: existing data is still encrypted with them.\n`,
      );
    });
  });
};
