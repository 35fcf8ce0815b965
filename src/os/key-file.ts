/** Reads the API key of a service. */
import { readFile } from 'node:fs/promises';
import { headerSecret } from '../contract/secrecy/known-secrets.js';
import { SandflowError } from '../contract/workflow-safe/sandflow-error.js';

/**
 * The key, read from its file if one is named, so that it can be replaced while a program runs.
 * @throws SandflowError `bad_configuration` if the file cannot be read, `bad_api_key` if its text cannot be a key
 */
export async function apiKeyOf(service: { readonly apiKey?: string; readonly apiKeyFile?: string }): Promise<string> {
  const { apiKey, apiKeyFile } = service;
  if (apiKeyFile === undefined) return apiKey ?? '';
  const text = await readFile(apiKeyFile, 'utf8').catch((cause: unknown) => {
    throw new SandflowError(
      'bad_configuration',
      `SANDBOX_API_KEY_FILE: ${apiKeyFile} cannot be read. Check that it exists and is readable.`,
      { cause },
    );
  });
  return headerSecret(`SANDBOX_API_KEY_FILE: the key in ${apiKeyFile}`, text);
}
