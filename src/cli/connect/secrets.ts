/** Where workers keep secrets that the service shows once. Workers on several hosts must share it. */
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { createSecretStore, type SecretStore } from '../../secret-store/index.js';

export function openSecrets(config: Pick<Config, 'home'>): SecretStore {
  return createSecretStore(join(config.home, 'secrets'));
}
