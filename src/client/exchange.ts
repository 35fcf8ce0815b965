/**
 * Makes an HTTP exchange in exactly one attempt. Its answer is a stream, or the whole body. An abort reaches the socket.
 * Errors say whether the request may have been sent. Only data that the reader has not taken yet is in memory.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { readBytes } from '../texts/byte-collector.js';
import type { CallName, PlainResponse } from './call-options.js';
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

/** How far the body may run ahead of its reader, in bytes. */
const readAheadBytes = 256 * 1024;

/**
 * Sends a request and resolves when the headers of the answer have arrived, with any status. `timeoutMs` is the longest
 * time in which the server may send nothing. The time in which the reader is slow does not count. Redirects are not
 * followed.
 * @param options.limits `whole`: `timeoutMs` limits the whole exchange
 * @throws ConnectionError, TimeoutError; the signal's reason; SandflowError `bad_argument` for a header or path that
 *   HTTP cannot carry
 */
export function streamExchange(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  { limits = 'silence' }: { readonly limits?: 'silence' | 'whole' } = {},
): Promise<PlainResponse> {
  const { endpoint, origin, method, path, headers, body: sentBody, timeoutMs, signal } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let body: Readable | undefined;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;

    const listen = () => {
      const late = () => fail(new TimeoutError(endpoint, controller !== undefined, timeoutMs, limits));
      if (!ended) timer ??= setTimeout(late, timeoutMs);
    };
    const end = () => {
      ended = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: unknown) => {
      if (ended) return;
      end();
      if (body) body.destroy(asError(error));
      else reject(error);
      controller?.abort(new Error('call ended'));
    };
    const onAbort = () => fail(signal?.reason);
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    listen();

    const openBody = () => {
      const opened = new Readable({
        highWaterMark: readAheadBytes,
        read() {
          if (ended || !controller?.paused) return;
          listen();
          controller.resume();
        },
        destroy(error, callback) {
          if (!ended) {
            end();
            controller?.abort(new Error('call ended'));
          }
          callback(error);
        },
      });
      // The connection may break before the reader begins. The reader finds the error when it begins to read.
      opened.on('error', () => undefined);
      return opened;
    };

    dispatcher.dispatch(
      // The deadline above covers everything, so undici's own timeouts for headers and body are off.
      { origin, method, path, headers, body: sentBody, headersTimeout: 0, bodyTimeout: 0 },
      {
        // Called when the request has its connected socket, just before its first byte is written to it. One without a
        // controller still waits for its socket, and is dropped here before it is written.
        onRequestStart(given) {
          if (ended) given.abort(new Error('call ended'));
          else controller = given;
        },
        onResponseStart(_, status, received) {
          if (status < 200 || ended) return;
          body = openBody();
          resolve({ status, header: (name) => [received[name]].flat()[0], headers: received, body });
        },
        onResponseData(given, chunk) {
          if (!body || ended) return;
          const mayContinue = body.push(chunk);
          if (!mayContinue) given.pause();
          if (limits === 'whole') return;
          if (mayContinue) return void timer?.refresh();
          clearTimeout(timer);
          timer = undefined;
        },
        onResponseEnd() {
          if (ended) return;
          end();
          body?.push(null);
        },
        onResponseError(_, error) {
          fail(exchangeError(endpoint, error, controller !== undefined));
        },
      },
    );
  });
}

/** A stream can fail only with an `Error`, but the reason of a signal may be any value. */
function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The download was aborted.', { cause: reason });
}

export interface ExchangeResponse extends Omit<PlainResponse, 'body'> {
  readonly body: Buffer;
}

/** The largest body that is read, in bytes. */
const maxResponseBytes = 64 * 1024 * 1024;

/**
 * Sends a request and reads the whole answer, with any status. Redirects are not followed.
 * @throws ConnectionError, TimeoutError; UnexpectedResponseError for a body over 64 MiB; the signal's reason;
 *   SandflowError `bad_argument` for a header or path that HTTP cannot carry
 */
export async function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<ExchangeResponse> {
  const { endpoint, signal } = request;
  const { status, header, headers, body } = await streamExchange(dispatcher, request, { limits: 'whole' });
  const bytes = await readBytes(body as AsyncIterable<Buffer>, maxResponseBytes).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : error;
  });
  if (bytes !== 'too_large') return { status, header, headers, body: Buffer.from(bytes.buffer) };
  throw new UnexpectedResponseError(endpoint, status, 'body', `is larger than ${maxResponseBytes} bytes`);
}
