/**
 * Makes an HTTP exchange in exactly one attempt. One deadline covers queueing, connect, headers and body. An abort
 * reaches the socket. Errors say whether the request may have been sent.
 */
import type { Dispatcher } from 'undici';
import { createByteCollector } from '../texts/byte-collector.js';
import type { CallName } from './call-options.js';
import { exchangeError, TimeoutError, UnexpectedResponseError } from './errors.js';

export interface ExchangeRequest {
  readonly endpoint: CallName;
  readonly origin: string;
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface ExchangeResponse {
  readonly status: number;
  /** First value of a header; names in lower case. */
  readonly header: (name: string) => string | undefined;
  /** All headers; names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The largest body that is read, in bytes. */
const maxResponseBytes = 64 * 1024 * 1024;

/**
 * Sends a request and reads the whole answer, with any status. Redirects are not followed.
 * @throws ConnectionError, TimeoutError; UnexpectedResponseError for a body over 64 MiB; the signal's reason;
 *   SandflowError `bad_argument` for a header or path that HTTP cannot carry
 */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<ExchangeResponse> {
  const { endpoint, origin, method, path, headers, body, timeoutMs, signal } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;

    const settle = (finish: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    // A request without a controller still waits for its socket. `onRequestStart` drops it before it is written.
    const fail = (error: unknown) => {
      settle(() => reject(error));
      controller?.abort(new Error('call ended'));
    };
    const onAbort = () => fail(signal?.reason);
    const timer = setTimeout(() => fail(new TimeoutError(endpoint, controller !== undefined, timeoutMs)), timeoutMs);
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });

    let status = 0;
    let received: Record<string, string | string[] | undefined> = {};
    const collected = createByteCollector();

    dispatcher.dispatch(
      // The deadline above covers everything, so undici's own timeouts for headers and body are off.
      { origin, method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        // Called when the request has its connected socket, just before its first byte is written to it.
        onRequestStart(given) {
          if (settled) given.abort(new Error('call ended'));
          else controller = given;
        },
        onResponseStart(_, statusCode, responseHeaders) {
          status = statusCode;
          received = responseHeaders;
        },
        onResponseData(_, chunk) {
          if (collected.size + chunk.length > maxResponseBytes) {
            fail(new UnexpectedResponseError(endpoint, status, 'body', `is larger than ${maxResponseBytes} bytes`));
          } else collected.add(chunk);
        },
        onResponseEnd() {
          const header = (name: string) => [received[name]].flat()[0];
          settle(() => resolve({ status, header, headers: received, body: Buffer.from(collected.bytes().buffer) }));
        },
        onResponseError(_, error) {
          fail(exchangeError(endpoint, error, controller !== undefined));
        },
      },
    );
  });
}
