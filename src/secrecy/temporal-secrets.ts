/**
 * The secrets in the settings of a connection to Temporal. A key with a line end was printed by Temporal's client, and
 * left out by its worker.
 */
import { SandflowError } from '../errors/sandflow-error.js';
import { headerSecret, keepSecret, looksSecret } from './known-secrets.js';

interface Settings {
  readonly apiKey?: string | (() => string);
  readonly metadata?: object;
  readonly tls?: unknown;
}

/**
 * Keeps the secrets, and removes the line ends around what becomes a header. Temporal's client quotes a header that it
 * cannot send in its error, and its worker leaves it out.
 * @throws SandflowError `bad_api_key`, `bad_configuration` with the name of the setting
 */
export function usableTemporalSettings<T extends Settings>(settings: T): T {
  const { apiKey, metadata, tls } = settings;
  keepKey(tls);
  return {
    ...settings,
    ...(typeof apiKey === 'string' && { apiKey: headerSecret('TEMPORAL_API_KEY', apiKey) }),
    ...(metadata && { metadata: Object.fromEntries(Object.entries(metadata).map(usableHeader)) }),
  };
}

function usableHeader([name, given]: [string, unknown]): [string, unknown] {
  if (typeof given !== 'string') return [name, given];
  if (looksSecret(name)) for (const word of [given, ...given.trim().split(' ')]) keepSecret(word);
  const value = given.trim();
  if (/^[\x20-\x7e]*$/.test(value)) return [name, value];
  const setting = `TEMPORAL_GRPC_META_${name.toUpperCase().replaceAll('-', '_')}`;
  const message = `${setting} contains characters that a header cannot carry, such as a line end. Set it again.`;
  throw new SandflowError('bad_configuration', message);
}

function keepKey(tls: unknown): void {
  const { key } =
    (tls as { readonly clientCertPair?: { readonly key?: Uint8Array } } | undefined)?.clientCertPair ?? {};
  if (key) keepSecret(Buffer.from(key).toString());
}
