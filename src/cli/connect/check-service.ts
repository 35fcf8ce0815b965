/** Asks the service who we are, before anything is started: a wrong key or address is then an immediate, clear error. */
import { readFile } from 'node:fs/promises';
import { createSandboxClient, type SandboxClient } from '../../client/index.js';
import type { Config } from '../../config.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { failureOf } from '../failure.js';

const timeoutMs = 10_000;

/** A client of the configured service that reads a key file at every call. */
export function clientOf(
  service: NonNullable<Config['sandboxService']>,
  options: { readonly connections?: number } = {},
): SandboxClient {
  const { apiUrl, apiKey, apiKeyFile } = service;
  return createSandboxClient({
    baseUrl: apiUrl,
    apiKey: async () => {
      if (apiKeyFile === undefined) return apiKey ?? '';
      try {
        return (await readFile(apiKeyFile, 'utf8')).trim();
      } catch (cause) {
        throw new SandflowError('bad_configuration', `SANDBOX_API_KEY_FILE: ${apiKeyFile} cannot be read.`, { cause });
      }
    },
    connections: options.connections ?? 4,
  });
}

/**
 * @returns the login of the key's account; null where the key may not read it
 * @throws SandflowError `bad_configuration` for a key that is refused, `service_unreachable` where there is no answer
 */
export async function checkService(config: Pick<Config, 'sandboxService'>): Promise<string | null> {
  const { sandboxService } = config;
  if (!sandboxService) throw new SandflowError('bad_configuration', 'SANDBOX_API_URL is not set.');
  const client = clientOf(sandboxService);
  try {
    return (await client.getMe({ timeoutMs })).user.login;
  } catch (error) {
    // A key without `account.read` is a good key all the same.
    if (failureOf(error).error.status === 403 && failureOf(error).error.code !== 'api_key_expired') return null;
    throw explain(error, sandboxService.apiUrl);
  } finally {
    await client.close();
  }
}

function explain(error: unknown, apiUrl: string): unknown {
  if (error instanceof SandflowError && error.code === 'bad_configuration') return error;
  const { code, message, status } = failureOf(error).error;
  if (status === 401 || code === 'api_key_expired') {
    return new SandflowError(
      'bad_configuration',
      `The service at ${apiUrl} refuses the key (${status} ${code}). Set SANDBOX_API_KEY to a key that is valid.`,
      { cause: error },
    );
  }
  if (status === 404) {
    return new SandflowError(
      'bad_configuration',
      `There is no Sandbox Service at ${apiUrl}: it knows no /me. SANDBOX_API_URL goes up to and including the version.`,
      { cause: error },
    );
  }
  return new SandflowError('service_unreachable', `The service at ${apiUrl} cannot be reached: ${message}`, {
    cause: error,
  });
}
