/** Converts a response into the parsed body of a 2xx, or into an ApiError. */
import type { Readable } from 'node:stream';
import { type EndpointName, endpoints, errorEnvelopeSchema, type ResponseOf } from '../contract/endpoints/endpoints.js';
import { isShortText } from '../contract/records/short-text.js';
import { currentErrorCode, errorMeaning } from '../contract/workflow-safe/error-codes.js';
import { withoutSecrets } from '../errors/without-secrets.js';
import { readBytes } from '../texts/byte-collector.js';
import { cut, payloadBytes } from '../texts/length.js';
import { parseJson } from '../texts/parse-json.js';
import { foreignField } from './answer-identity.js';
import type { CallName, ListAllOptions } from './call-options.js';
import { ApiError, TimeoutError, UnexpectedResponseError } from './errors.js';
import type { ExchangeResponse } from './exchange.js';
import { at, lenientParse } from './lenient-parse.js';
import { listOf, splitRows } from './pages.js';

/**
 * Maximum size of an error's message, in characters, and of its details, in bytes. Both go into output and histories.
 */
const maxMessageLength = 8_000;
const maxDetailsBytes = 64 * 1024;

/**
 * Reads the body of a 2xx liberally: keeps unknown fields and enum values, and leaves out unreadable rows of lists.
 * @param path of the request, relative to the base URL; the answer must belong to the object that it names
 * @param options.isWanted as in `ListAllOptions`. The other rows follow as they came, because they count for the pages
 * @throws UnexpectedResponseError if the answer is not from the service, or belongs to another object than the
 *   requested one; if a needed field is missing or has another type
 */
export function readSuccess<Name extends EndpointName>(
  endpoint: Name,
  path: string,
  options: {
    readonly response: Pick<ExchangeResponse, 'status' | 'header' | 'body'>;
    readonly isWanted?: ListAllOptions['isWanted'];
  },
): { readonly answer: ResponseOf<Name>; readonly rowsLeftOut: number } {
  const { response, isWanted } = options;
  const { status, body } = response;
  // A 204 is a valid response if callers need nothing from the body.
  const parsed = status === 204 ? { ok: true } : parseJson(body.toString('utf8'));
  if (parsed === undefined) throw notJson(endpoint, response);
  if (!isFromService(parsed)) {
    const what = 'is not true, although it is true in every answer of the service';
    throw new UnexpectedResponseError(endpoint, status, 'ok', what, 'unavailable');
  }
  const { rowsIn = '' } = (isWanted && listOf(endpoint)) ?? {};
  const { answer, others } = splitRows({ rowsIn }, parsed, isWanted);
  const { read, rowsLeftOut, problem } = lenientParse<unknown>(endpoints[endpoint].response, answer);
  if (problem !== undefined) {
    throw new UnexpectedResponseError(endpoint, status, problem.field, problem.what);
  }
  const foreign = foreignField(endpoint, path, read);
  if (foreign !== undefined) {
    throw new UnexpectedResponseError(endpoint, status, foreign, 'is not what was requested');
  }
  if (endpoint === 'runCommand' && isUnderWay(status, read as ResponseOf<'runCommand'>)) {
    const what = 'is not known yet: the command was accepted and may run, and no endpoint tells its end';
    throw new UnexpectedResponseError(endpoint, status, 'exitCode', what);
  }
  const whole =
    others.length === 0 ? read : { ...(read as object), [rowsIn]: [...(at(read, [rowsIn]) as unknown[]), ...others] };
  return { answer: whole as ResponseOf<Name>, rowsLeftOut };
}

function notJson(
  endpoint: EndpointName,
  { status, header, body }: Pick<ExchangeResponse, 'status' | 'header' | 'body'>,
) {
  const isPage = /html/i.test(header('content-type') ?? '') || /^\s*</.test(body.toString('utf8', 0, 100));
  const what = isPage ? 'is a web page' : body.length === 0 ? 'is empty' : 'is not JSON';
  return new UnexpectedResponseError(endpoint, status, 'body', what, isPage ? 'unavailable' : 'unreadable');
}

/** An answer without an end, which is not the result of a command that a signal or a time limit ended. */
function isUnderWay(status: number, { exitCode, timedOut, status: word }: ResponseOf<'runCommand'>): boolean {
  if (exitCode !== null || timedOut) return false;
  return status === 202 || /^(accepted|created|in_?progress|pending|queued|running|started)$/i.test(String(word));
}

/** Answers contain `ok`, or `success` if they are about environments (specification, "Response envelope"). */
function isFromService(answer: unknown): answer is Readonly<Record<string, unknown>> {
  if (typeof answer !== 'object' || answer === null) return false;
  const { ok, success } = answer as { readonly ok?: unknown; readonly success?: unknown };
  return ok === true || (ok === undefined && success === true);
}

/** Creates the error for an answer other than 2xx. Secrets of this process are removed from quoted text. */
export function readFailure(endpoint: CallName, response: ExchangeResponse): ApiError {
  const { status, body } = response;
  const text = withoutSecrets(body.toString('utf8'));
  const parsed = parseJson(text);
  const envelope = errorEnvelopeSchema.safeParse(parsed);
  if (!envelope.success) {
    const code = `http_${status}`;
    const sender = redirectOf(endpoint, response) ?? 'A proxy may have sent it.';
    return new ApiError(`The answer was ${status} without the error body of the service. ${sender}`, {
      endpoint,
      status,
      code,
      typed: false,
      // The status of a proxy says nothing about the call.
      meaning: 'unavailable',
      requestId: null,
      // Nor does its pause: the service may be available long before.
      retryAfterMs: null,
      details: null,
    });
  }
  const { error, requestId } = envelope.data;
  const code = isShortText(envelope.data.code) ? currentErrorCode(envelope.data.code) : `http_${status}`;
  const message = cut(envelope.data.message || 'The service refused the request.', maxMessageLength);
  const details = error?.details ?? null;
  const lacking = code === 'api_key_action_forbidden' ? lackingAction(endpoint, message) : '';
  return new ApiError(`${message} (${status} ${code})${lacking}${whereToGo(message, parsed)}`, {
    endpoint,
    status,
    code,
    typed: true,
    meaning: errorMeaning(status, code),
    requestId: requestId != null && isShortText(requestId) ? requestId : null,
    retryAfterMs: retryAfterMs(response.header('retry-after'), Date.now()),
    details: payloadBytes(details) > maxDetailsBytes ? null : details,
  });
}

/** Where a redirect leads: the address of the service may have changed. Its path and its query may hold a secret. */
function redirectOf(endpoint: CallName, { status, header }: ExchangeResponse): string | undefined {
  const target = header('location');
  if (status < 300 || status >= 400 || !target || !/^https?:/i.test(target) || !URL.canParse(target)) return undefined;
  return `It redirects ${endpoint} to ${cut(withoutSecrets(new URL(target).origin), maxUrlLength)}.`;
}

/** Names the action that the call needs, if the message of the service does not. */
function lackingAction(endpoint: CallName, message: string): string {
  if (!Object.hasOwn(endpoints, endpoint)) return '';
  const { scope } = endpoints[endpoint as EndpointName];
  return message.includes(scope) ? '' : `. The key lacks the action ${scope}`;
}

/** Longest URL that a message quotes, in characters, and the most URLs. */
const maxUrlLength = 500;
const maxUrls = 3;

/** The pages on which the user can remove the cause, if the service names them and its message does not. */
function whereToGo(message: string, answer: unknown): string {
  const urls = urlsIn(answer).filter((url) => !message.includes(url));
  return urls.length === 0 ? '' : `. See ${[...new Set(urls)].slice(0, maxUrls).join(' and ')}`;
}

/** The URLs in fields that are named so, wherever the answer holds them: the specification does not say where. */
function urlsIn(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => {
    // The URL of a desktop is a secret (specification, "Authentication").
    if (/desktop|vnc/i.test(name)) return [];
    if (typeof value !== 'string') return urlsIn(value);
    const isQuotable = value.length <= maxUrlLength && /^https:\/\/[\x21-\x7e]+$/.test(value);
    return /url$/i.test(name) && isQuotable ? [value] : [];
  });
}

/** Maximum number of bytes that are read of an error body. */
const maxErrorBytes = 1024 * 1024;

/**
 * Reads the error body of a refused download.
 * @returns the body; empty if it is longer than 1 MiB
 * @throws TimeoutError if the body is not complete after `timeoutMs`, even if pieces of it keep coming; the error that
 *   ended the body
 */
export async function readWhole(endpoint: CallName, body: Readable, timeoutMs: number): Promise<Buffer> {
  const timer = setTimeout(() => body.destroy(new TimeoutError(endpoint, true, timeoutMs)), timeoutMs);
  try {
    const bytes = await readBytes(body as AsyncIterable<Buffer>, maxErrorBytes);
    return bytes === 'too_large' ? Buffer.alloc(0) : Buffer.from(bytes.buffer);
  } finally {
    clearTimeout(timer);
  }
}

/** Maximum wait. Temporal refuses a timer of centuries, and the workflow would hang. */
const longestMs = 24 * 60 * 60 * 1_000;

/**
 * The wait that a `Retry-After` header requests.
 * @param header seconds, or an HTTP date
 * @param nowMs the present, in ms since the epoch
 * @returns ms from `nowMs`, never negative, and at most a day; null if the header is missing or has another format
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const value = header?.trim();
  if (!value) return null;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(longestMs, Math.ceil(Number(value) * 1000));
  // `Date.parse` accepts texts that are not HTTP dates, such as "-5". Every HTTP date begins with a weekday.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return null;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(longestMs, Math.max(0, atMs - nowMs));
}
