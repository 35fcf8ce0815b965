/**
 * Settings that name a path. A shell expands `~` only where it begins an unquoted word, and nothing does later: a quoted
 * `SANDFLOW_HOME='~/state'` made a folder called `~` in the project, with secrets in it.
 */
import { SandflowError } from '../errors/sandflow-error.js';

const pathVariables = [
  'SANDBOX_API_KEY_FILE',
  'SANDBOX_WEBHOOK_SECRET_FILE',
  'SANDFLOW_CACHE',
  'SANDFLOW_ENCRYPTION_KEYS_FILE',
  'SANDFLOW_HOME',
  'SANDFLOW_NOTIFY_SECRET_FILE',
  'SANDFLOW_RESULTS',
  'TEMPORAL_CONFIG_FILE',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
];

/** @throws SandflowError `bad_configuration` for a path that begins with `~`: it would be a folder of that name */
export function refuseHomeMark(env: Readonly<Record<string, string | undefined>>): void {
  const name = pathVariables.find((one) => env[one]?.startsWith('~'));
  if (name === undefined) return;
  const message = `${name} begins with ~, which is not expanded here. Write the whole path, or $HOME without single quotes.`;
  throw new SandflowError('bad_configuration', message);
}
