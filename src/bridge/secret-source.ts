import { statSync } from 'node:fs';
import { SandflowError } from '../errors/sandflow-error.js';
import { readSecretFile } from '../os/secret-file.js';
import { webhookSecretsIn } from '../secrecy/webhook-secrets.js';
import { requireOptions } from '../settings/required-options.js';
import type { BridgeLog } from './bridge-options.js';

/** Options of `createSecretSource`. */
export interface SecretSourceOptions {
  /** Secrets that never change, such as those of the environment. */
  readonly fixed: readonly string[];
  /** A file of secrets, newest first, which may not exist yet. */
  readonly file: string;
  /** Is told if the file cannot be used any more. Default: none. */
  readonly log?: BridgeLog;
}

/**
 * Creates a function that returns every secret that is valid now: those of the file, then the fixed ones. It checks the
 * file each time and reads it only when it has changed, so that a rotation needs no restart (trap S10). If the file
 * later holds something else, or cannot be read, the secrets that it held stay valid.
 * @returns the function; until it has read the file once, it throws what `readSecrets` throws
 * @throws SandflowError `bad_argument`; `bad_configuration` for a fixed secret that cannot be one
 * @example
 * const secrets = createSecretSource({ fixed: [], file: '/var/lib/sandflow/webhook-secrets' });
 * const bridge = createBridge({ temporalClient: client, secrets });
 */
export function createSecretSource(options: SecretSourceOptions): () => Promise<string[]> {
  requireOptions(options, { fixed: 'a list', file: 'a text' });
  const { file, log = () => undefined } = options;
  const fixed = webhookSecretsIn(options.fixed.join('\n'), 'fixed');
  let current: { readonly version: string | undefined; readonly secrets: string[] } | undefined;
  return async () => {
    let version: string | undefined;
    try {
      // The version is taken before the file is read, so the next call detects a change in between.
      version = versionOf(file);
      if (!current || current.version !== version) {
        const ofFile = version === undefined ? [] : await readSecrets(file);
        current = { version, secrets: [...new Set([...ofFile, ...fixed])] };
      }
    } catch (error) {
      if (!current) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      log('The file of webhook secrets cannot be used. The secrets that it held before stay valid.', { error: reason });
      // Wrong content stays wrong until it changes. A file that cannot be read is tried again.
      if (error instanceof SandflowError && error.cause === undefined) current = { version, secrets: current.secrets };
    }
    return current.secrets;
  };
}

/**
 * Reads the secrets in a file, newest first. Returns none if the file does not exist. Secrets are separated by white
 * space or commas.
 * @throws SandflowError `bad_configuration` if the file holds something else, or cannot be read
 * @example
 * const [newest] = await readSecrets('/var/lib/sandflow/webhook-secrets');
 */
export async function readSecrets(file: string): Promise<string[]> {
  const text = await readSecretFile(file, { what: 'the file of webhook secrets', isChecked: false });
  return webhookSecretsIn(text ?? '', file);
}

/** Each delivery waits for it, and a thread for it would take longer than the call. */
function versionOf(file: string): string | undefined {
  try {
    const { ino, ctimeNs, size } = statSync(file, { bigint: true });
    return `${ino}:${ctimeNs}:${size}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
