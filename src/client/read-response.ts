/** What a response means: the parsed body of a 2xx, or an ApiError. */
import { type EndpointName, endpoints, errorEnvelopeSchema, type ResponseOf } from '../contract/endpoints.js';
import { currentErrorCode, errorMeaning } from '../contract/error-codes.js';
import { foreignField } from './answer-identity.js';
import { ApiError } from './api-error.js';
import type { CallName, CallOptions } from './call-options.js';
import type { ExchangeResponse } from './exchange.js';
import { isOverlargeJson } from './json-size.js';
import { lenientParse } from './lenient-parse.js';
import { retryAfterMs } from './retry-after.js';
import { UnexpectedResponseError } from './unexpected-response-error.js';

/**
 * Reads the body of a 2xx liberally: unknown fields and enum values stay, bad rows of lists are left out.
 * @param path of the request, relative to the base URL: the answer must be of what it names
 * @param onRowsLeftOut told how many rows could not be read, where there are any
 * @throws UnexpectedResponseError when it is not the service's own word, a field that callers need is missing or of another
 *   type, or it is of something else than what was asked for
 */
export function readSuccess<Name extends EndpointName>(
  endpoint: Name,
  { path, onRowsLeftOut }: { readonly path: string } & Pick<CallOptions, 'onRowsLeftOut'>,
  response: ExchangeResponse,
): ResponseOf<Name> {
  const { status, body } = response;
  if (isOverlargeJson(body)) {
    throw new UnexpectedResponseError(endpoint, status, 'body', 'has too many values, or too many levels');
  }
  // A 204 is a valid response if callers need nothing from the body.
  const parsed = status === 204 ? { ok: true } : parseJson(body);
  if (parsed === undefined) throw new UnexpectedResponseError(endpoint, status, 'body', 'is not JSON');
  if (!isOwnWord(parsed)) {
    throw new UnexpectedResponseError(endpoint, status, 'ok', 'is not true, as it is in every answer of the service');
  }
  const { read, rowsLeftOut, problem } = lenientParse<unknown>(endpoints[endpoint].response, parsed);
  if (problem !== undefined) {
    throw new UnexpectedResponseError(endpoint, status, problem, 'is missing or has another type than expected');
  }
  const foreign = foreignField(endpoint, path, read);
  if (foreign !== undefined) {
    throw new UnexpectedResponseError(endpoint, status, foreign, 'is not what was asked for');
  }
  if (rowsLeftOut) onRowsLeftOut?.(rowsLeftOut);
  return read as ResponseOf<Name>;
}

/** Specification, "Response envelope": `ok`, and `success` in answers about environments. */
function isOwnWord(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { ok, success } = answer as { readonly ok?: unknown; readonly success?: unknown };
  return ok === true || (ok === undefined && success === true);
}

/** The error that an answer other than 2xx stands for. `secret` is cut out of whatever the answer quotes. */
export function readFailure(endpoint: CallName, response: ExchangeResponse, secret: string): ApiError {
  const { status, body } = response;
  const text = isOverlargeJson(body) ? '' : body.toString('utf8').replaceAll(secret, '[redacted]');
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
