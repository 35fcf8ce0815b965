/** Registers the bridge of a stack at the stack's own local service. */
import { join } from 'node:path';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { apiKeyOf } from '../os/key-file.js';
import type { StackAddresses } from './children.js';
import { stackPaths } from './stack-paths.js';
import { keepConnection } from './webhook-record.js';

interface BridgeToRegister {
  readonly localService: NonNullable<StackAddresses['localService']>;
  /** The URL to which the service delivers. */
  readonly url: string;
}

/**
 * Registers the bridge, or adopts its registration, and saves the secret to its file. Safe to repeat.
 * @throws SandflowError `child_failed` with the reason
 */
export async function registerBridge(config: Config, { localService, url }: BridgeToRegister): Promise<void> {
  const { apiUrl, apiKeyFile } = localService;
  // Loaded only here: the supervisor of a stack with another service never needs them.
  const [{ createSandboxClient }, { ensureWebhook }] = await Promise.all([
    import('../client/create-sandbox-client.js'),
    import('../bridge/webhook-registration.js'),
  ]);
  const client = createSandboxClient({ baseUrl: apiUrl, apiKey: await apiKeyOf({ apiKeyFile }) });
  try {
    const name = `sandflow ${config.deployment}`;
    const { webhookId, action } = await ensureWebhook(client, { url, name, secretFile: config.webhookSecretFile });
    if (action === 'created' || action === 'rotated') await keepConnection(config, { apiUrl, webhookId });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const log = join(stackPaths(config.home).logDirectory, 'local-service.log');
    const message = `The bridge could not be registered at the local service, whose log is ${log}. ${reason}`;
    throw new SandflowError('child_failed', message, { cause });
  } finally {
    await client.close();
  }
}
