/** What a worker of this command line delivers notifications with. */
import { resolve } from 'node:path';
import type { Config } from '../../config.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { createNotifyCommands, createNotifySecrets } from '../../notify/index.js';
import type { SandflowWorkerOptions } from '../../worker/index.js';

/**
 * Checks what was named before the worker takes tasks. A secret file that nobody named is made when it is needed.
 * @throws SandflowError `bad_configuration`, `file_not_trusted`, `bad_notify_commands`, `bad_notify_secrets`
 */
export async function openNotifying(
  { notify }: Pick<Config, 'notify'>,
  { notifyCommands: named }: { readonly notifyCommands?: string },
  cwd: string,
): Promise<Pick<SandflowWorkerOptions, 'notifyCommands' | 'notifySecrets'>> {
  const notifySecrets = createNotifySecrets(notify.secretFile, { make: !notify.secretFileNamed });
  if (notify.secretFileNamed) await notifySecrets();
  const file = named === undefined ? notify.commandsFile : resolve(cwd, named);
  if (file === undefined) return { notifySecrets };
  const notifyCommands = createNotifyCommands(file);
  if (!(await notifyCommands.isThere()) && (named !== undefined || notify.commandsFileNamed)) {
    throw new SandflowError(
      'bad_configuration',
      `The file of notify commands, ${file}, does not exist. Create it, or set SANDFLOW_NOTIFY_COMMANDS to another file.`,
    );
  }
  return { notifyCommands, notifySecrets };
}
