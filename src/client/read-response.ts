/** What a response means: the parsed body of a 2xx, or an ApiError. */
import { type EndpointName, endpoints, errorEnvelopeSchema, type ResponseOf } from '../contract/endpoints.js';
import { currentErrorCode, errorMeaning } from '../contract/error-codes.js';
import { ApiError } from './api-error.js';
import type { CallName } from './call-options.js';
import type { ExchangeResponse } from './exchange.js';
import { retryAfterMs } from './retry-after.js';
import { UnexpectedResponseError } from './unexpected-response-error.js';

/**
 * Reads the body of a 2xx liberally: unknown fields and enum values stay.
 * @throws UnexpectedResponseError when it is no JSON, or a field that callers need is missing or of another type
 */
export function readSuccess<Name extends EndpointName>(endpoint: Name, response: ExchangeResponse): ResponseOf<Name> {
  const { status, body } = response;
  // A 204 is as good as {} where callers need nothing of the body.
  const parsed = body.length === 0 ? {} : parseJson(body);
  if (parsed === undefined) throw new UnexpectedResponseError(endpoint, status, 'body', 'is not JSON');
  const read = endpoints[endpoint].response.safeParse(parsed);
  if (!read.success) {
    const field = read.error.issues[0]?.path.map(String).join('.') || 'body';
    throw new UnexpectedResponseError(endpoint, status, field, 'is missing or has another type than expected');
  }
  return read.data as ResponseOf<Name>;
}

/** The error that an answer other than 2xx stands for. `secret` is cut out of whatever the answer quotes. */
export function readFailure(endpoint: CallName, response: ExchangeResponse, secret: string): ApiError {
  const { status, body } = response;
  const text = body.toString('utf8').replaceAll(secret, '[redacted]');
  const envelope = errorEnvelopeSchema.safeParse(parseJson(text));
  const waitMs = retryAfterMs(response.header('retry-after'), Date.now());
  if (!envelope.success) {
    const code = `http_${status}`;
    return new ApiError(`${endpoint}: answered ${status} without the service's error body; a proxy may have.`, {
      endpoint,
      status,
      code,
      typed: false,
      // Whatever the number: a road that is broken says nothing of the call.
      meaning: 'unavailable',
      requestId: null,
      retryAfterMs: waitMs,
      details: null,
    });
  }
  const { message, error, requestId } = envelope.data;
  const code = currentErrorCode(envelope.data.code);
  return new ApiError(`${endpoint}: ${message || 'refused'} (${status} ${code})`, {
    endpoint,
    status,
    code,
    typed: true,
    meaning: errorMeaning(status, code),
    requestId: requestId ?? null,
    retryAfterMs: waitMs,
    details: error?.details ?? null,
  });
}

function parseJson(body: Buffer | string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
