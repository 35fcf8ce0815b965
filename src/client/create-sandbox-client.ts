import { requireOptions } from '../settings/required-options.js';
import type { PlainRequest, PlainResponse, SandboxClientOptions, StreamOptions } from './call-options.js';
import { createCaller } from './caller.js';
import { type ClientMethods, clientMethods } from './methods.js';

/**
 * Creates a client of the Sandbox Service on a pool of keep-alive connections. Opens no connection before the first
 * call.
 * @throws SandflowError `bad_argument` if an option is missing; `bad_configuration` if the base URL is invalid or would send the key in plain text
 * @example
 * const api = createSandboxClient({ baseUrl: 'https://api.example.com/v1', apiKey: 'sk_example' });
 * const { sandbox } = await api.createSandbox({ name: 'review' });
 * await api.close();
 */
export function createSandboxClient(options: SandboxClientOptions): SandboxClient {
  requireOptions(options, { baseUrl: 'a text', apiKey: ['a text', 'a function'] });
  const { call, open, request, close } = createCaller(options);
  return { ...clientMethods(call, open), request, close };
}

/**
 * The service's endpoints as typed methods. Each call is exactly one attempt and resolves to the whole parsed body.
 * `endpoints[name].retry` of the contract says whether a call may be repeated after a failure.
 *
 * Every method throws `ApiError` after an answer other than 2xx. It throws `ConnectionError` or `TimeoutError` if there
 * is no complete answer (see `requestSent`), and `UnexpectedResponseError` if a 2xx lacks a required field. After an
 * abort it throws the signal's reason.
 *
 * Downloads (`download…` to a file, `open…` as a stream) hold less than a MiB in memory, independent of their size.
 * Their `timeoutMs` limits the time between two pieces, not the whole download.
 */
export interface SandboxClient extends ClientMethods {
  /**
   * Sends any request below the base URL, and resolves to the unchanged answer, with any status. For tools; the other
   * methods are typed.
   */
  request(request: PlainRequest, options?: StreamOptions): Promise<PlainResponse>;

  /** Lets calls that are under way finish, then closes the connections. No call may follow. */
  close(): Promise<void>;
}
