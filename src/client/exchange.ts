/**
 * Makes an HTTP exchange in exactly one attempt. One deadline covers queueing, connect, headers and body. An abort
 * reaches the socket. Errors say whether the request may have been sent.
 */
import type { Dispatcher } from 'undici';
import { readBytes } from '../texts/byte-collector.js';
import type { PlainResponse } from './call-options.js';
import { UnexpectedResponseError } from './errors.js';
import { type ExchangeRequest, streamExchange } from './stream-exchange.js';

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
