/** Checks the key and address before anything starts, so that a mistake gives an immediate, clear error. */
import { readFile } from 'node:fs/promises';
import { ApiError, createSandboxClient, type SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { type AskOptions, createAsk } from './ask-service.js';

const timeoutMs = 10_000;

/** A client of the configured service that reads a key file at every call. */
export function clientOf(
  service: NonNullable<Config['sandboxService']>,
  options: { readonly connections?: number } = {},
): SandboxClient {
  const { apiUrl, apiKey, apiKeyFile } = service;
  return createSandboxClient({
    baseUrl: apiUrl,
    // The configuration has already checked it.
    allowHttp: true,
    apiKey: async () => {
      if (apiKeyFile === undefined) return apiKey ?? '';
      try {
        return (await readFile(apiKeyFile, 'utf8')).trim();
      } catch (cause) {
        throw new SandflowError(
          'bad_configuration',
          `SANDBOX_API_KEY_FILE: ${apiKeyFile} cannot be read. Check that it exists and is readable.`,
          { cause },
        );
      }
    },
    connections: options.connections ?? 4,
  });
}

/**
 * @param options.signal Ctrl-C
 * @param options.notice told when the answer is late
 * @returns the login of the key's account; null where the key may not read it
 * @throws SandflowError `bad_configuration` where no service is configured, or another one than ours is there;
 *   `ServiceRefusal` for a key that is refused and for everything that somebody has to mend, at once; for what does not
 *   pass by itself after the patience; the reason of the signal
 */
export async function checkService(
  { sandboxService, patienceMs }: Pick<Config, 'sandboxService' | 'patienceMs'>,
  { signal, notice }: Pick<AskOptions, 'signal' | 'notice'>,
): Promise<string | null> {
  if (!sandboxService) throw new SandflowError('bad_configuration', 'SANDBOX_API_URL is not set.');
  const { apiUrl } = sandboxService;
  const client = clientOf(sandboxService);
  try {
    const ask = createAsk({ apiUrl, patienceMs, signal, notice });
    return (await ask((call) => client.getMe(call), { timeoutMs })).user.login;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A key without `account.read` is valid too.
    if (error.status === 403) return null;
    if (error.status !== 404) throw error;
    const message = `There is no Sandbox Service at ${apiUrl}: /me was not found. SANDBOX_API_URL must include the version, like https://api.example.com/v1.`;
    throw new SandflowError('bad_configuration', message, { cause: error });
  } finally {
    await client.close();
  }
}
