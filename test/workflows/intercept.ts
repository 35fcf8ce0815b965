/** Acts around single calls of the worker: those of other people at exact moments, and wrong answers. */
import { ApiError, ConnectionError, type SandboxClient } from '../../src/client/index.js';
import { errorMeaning } from '../../src/contract/workflow-safe/error-codes.js';

type Method = keyof SandboxClient;
/** @param count the number of the call of this method, from 1 */
type Interceptor = (call: () => Promise<unknown>, count: number, args: readonly unknown[]) => Promise<unknown>;

export interface Intercept {
  /** For `createStand`. */
  readonly through: (api: SandboxClient) => SandboxClient;
  /** Intercepts every call of a method from now on. */
  on(method: Method, interceptor: Interceptor): void;
  /** Stops intercepting. */
  clear(): void;
}

export function createIntercept(): Intercept {
  const interceptors = new Map<Method, Interceptor>();
  const counts = new Map<Method, number>();
  return {
    through: (api) =>
      new Proxy(api, {
        get(target, name, receiver) {
          const method = name as Method;
          const made = Reflect.get(target, name, receiver) as (...args: unknown[]) => Promise<unknown>;
          return (...args: unknown[]) => {
            const interceptor = interceptors.get(method);
            if (!interceptor) return made(...args);
            const count = (counts.get(method) ?? 0) + 1;
            counts.set(method, count);
            return interceptor(() => made(...args), count, args);
          };
        },
      }),
    on: (method, interceptor) => {
      counts.delete(method);
      interceptors.set(method, interceptor);
    },
    clear: () => {
      interceptors.clear();
      counts.clear();
    },
  };
}

type Endpoint =
  | 'createSandbox'
  | 'stopSandbox'
  | 'resumeSandbox'
  | 'deleteSandbox'
  | 'getSandbox'
  | 'getStop'
  | 'listSandboxes';

/** The error of a call that may have arrived. */
export const lost = (endpoint: Endpoint) => new ConnectionError(endpoint, true, 'UND_ERR_SOCKET');

/** @param refused.typed false for the page of a proxy, which does not show the effect of the call */
export function refusal(
  endpoint: Endpoint,
  refused: { readonly status: number; readonly code: string; readonly typed: boolean },
): ApiError {
  const { status, code, typed } = refused;
  const meaning = typed ? errorMeaning(status, code) : 'unavailable';
  const unsaid = { requestId: null, retryAfterMs: null, details: null };
  return new ApiError(`refused: ${code}`, { ...unsaid, ...refused, endpoint, meaning });
}
