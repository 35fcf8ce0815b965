/** Creates clients of the configured service, and checks its address and key before anything is started. */
import { ApiError, createSandboxClient, type SandboxClient, type SandboxClientOptions } from '../../client/index.js';
import type { Config } from '../../config.js';
import { apiKeyOf } from '../../os/key-file.js';
import { badConfiguration } from '../usage-error.js';
import { type AskOptions, createAsk, createServiceReads, type ServiceReads } from './ask-service.js';

const timeoutMs = 10_000;

type Service = NonNullable<Config['sandboxService']>;

/** Creates a client of the configured service. If there is a key file, the client reads it at every call. */
export function clientOf(
  service: Service,
  options: Pick<SandboxClientOptions, 'connections' | 'onCall'> = {},
): SandboxClient {
  return createSandboxClient({
    ...service,
    baseUrl: service.apiUrl,
    // `readConfig` has checked the URL.
    allowHttp: true,
    apiKey: () => apiKeyOf(service),
    connections: 4,
    ...options,
  });
}

/** Opens a client for `act` and closes it afterwards. */
export async function withReads<T>(
  service: Service,
  asking: Omit<AskOptions, 'apiUrl'>,
  act: (reads: ServiceReads, client: SandboxClient) => Promise<T>,
): Promise<T> {
  const client = clientOf(service);
  try {
    return await act(createServiceReads(client, createAsk({ apiUrl: service.apiUrl, ...asking })), client);
  } finally {
    await client.close();
  }
}

/**
 * @param options.signal Ctrl-C
 * @param options.notice called if the answer is late
 * @returns the login of the key's account; null if the key may not read it
 * @throws SandflowError `bad_configuration` if no service is configured, or if the address is not that of a Sandbox
 * Service; `ServiceRefusal` at once if somebody has to fix a problem, such as a refused key, and after the time limit
 * if a failure lasts; the signal's reason after an abort
 */
export async function checkService(
  { sandboxService, patienceMs }: Pick<Config, 'sandboxService' | 'patienceMs'>,
  { signal, notice }: Pick<AskOptions, 'signal' | 'notice'>,
): Promise<string | null> {
  if (!sandboxService) throw badConfiguration('SANDBOX_API_URL is not set.');
  try {
    const asking = { patienceMs, signal, notice };
    return await withReads(sandboxService, asking, async (reads) => (await reads.getMe({ timeoutMs })).user.login);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A key without `account.read` is valid.
    if (error.status === 403) return null;
    if (error.status !== 404) throw error;
    const message = `No Sandbox Service found at ${sandboxService.apiUrl}: /me returned 404. SANDBOX_API_URL must include the version, like https://api.example.com/v1.`;
    throw badConfiguration(message, error);
  }
}
