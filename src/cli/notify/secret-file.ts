/** What `sandflow notify secret` does. It says where the secrets are and never what they are. */

import { createNotifySecrets } from '../../notify/index.js';
import { prepareTrustedFolder } from '../../os/trusted-folder.js';
import type { CommandContext } from '../command.js';
import { printJson } from '../output/json.js';

export async function showSecretFile({ json }: { readonly json?: boolean }, { io }: CommandContext): Promise<void> {
  const { home, notify, temporal } = await io.readConfig();
  const { secretFile: file, secretFileNamed: isNamed } = notify;
  if (!isNamed) await prepareTrustedFolder({ path: home, setting: 'SANDFLOW_HOME' });
  const secrets = await createNotifySecrets(file, { make: !isNamed })();
  if (json) return printJson(io.stdout, { file, secrets: secrets.length, error: null });
  io.stdout.write(`${file}\n`);
  if (!temporal.configured || isNamed) return;
  io.stderr.write(
    'Workers with another SANDFLOW_HOME use their own file, unless SANDFLOW_NOTIFY_SECRET_FILE names one.\n',
  );
}
