/** Reads the API key of a service. */
import { headerSecret } from '../secrecy/known-secrets.js';
import { requireSecretFile } from './secret-file.js';

/**
 * The key, read from its file if one is named, so that it can be replaced while a program runs.
 * @throws SandflowError `bad_configuration` if the file cannot be read, `bad_api_key` if its text cannot be a key
 */
export async function apiKeyOf(service: { readonly apiKey?: string; readonly apiKeyFile?: string }): Promise<string> {
  const { apiKey, apiKeyFile } = service;
  if (apiKeyFile === undefined) return apiKey ?? '';
  const text = await requireSecretFile(apiKeyFile, { what: 'the SANDBOX_API_KEY_FILE', isChecked: false });
  return headerSecret(`SANDBOX_API_KEY_FILE: the key in ${apiKeyFile}`, text);
}
