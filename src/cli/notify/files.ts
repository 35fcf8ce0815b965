/** Opens the file of secrets with which a worker signs notifications. */
import type { Config } from '../../config.js';
import { createNotifySecrets } from '../../notify/index.js';
import type { SandflowWorkerOptions } from '../../worker/index.js';

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
