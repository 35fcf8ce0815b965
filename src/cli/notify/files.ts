/** Opens the files that a worker needs to deliver notifications; also `sandflow notify secret`. */
import type { Config } from '../../config.js';
import { createNotifySecrets } from '../../notify/index.js';
import { prepareTrustedFolder } from '../../os/trusted-folder.js';
import type { SandflowWorkerOptions } from '../../worker/index.js';
import type { CommandContext } from '../command.js';
import { printJson } from '../output/json.js';

/**
 * Checks the configured files before the worker takes tasks. The default secret file is created when it is needed.
 * @throws SandflowError `file_not_trusted`, `bad_notify_secrets`
 */
export async function openNotifying({
  notify,
}: Pick<Config, 'notify'>): Promise<Pick<SandflowWorkerOptions, 'notifySecrets'>> {
  const { secretFile, secretFileNamed } = notify;
  const notifySecrets = createNotifySecrets(secretFile, { make: !secretFileNamed });
  if (secretFileNamed) await notifySecrets();
  return { notifySecrets };
}

/** Prints the path of the file of secrets, and never a secret. */
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
