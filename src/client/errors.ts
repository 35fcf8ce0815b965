/** The errors that the client throws. */
import type { ErrorMeaning } from '../contract/workflow-safe/error-codes.js';
import { type ConnectionProblem, connectionProblemOf } from '../errors/connection-problem.js';
import { SandflowError } from '../errors/sandflow-error.js';
import type { CallName } from './call-options.js';

/** The service (or a proxy before it) answered with a status other than 2xx. Specification, "Errors". */
export class ApiError extends SandflowError {
  override readonly name = 'ApiError';
  /** The endpoint that answered. */
  readonly endpoint: CallName;
  /** HTTP status; authoritative. */
  readonly status: number;
  /** True only for the service's own error envelope, not for the error of a proxy. */
  readonly typed: boolean;
  /** What a caller does about the error; see `errorMeanings`. */
  readonly meaning: ErrorMeaning;
  /** `req_…`, for support requests. */
  readonly requestId: string | null;
  /** Wait from the header `Retry-After`, in ms; null without this header, or if the answer is not the service's own. */
  readonly retryAfterMs: number | null;
  /** `error.details` of the envelope, such as `provider` and `setupUrl`. */
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(message: string, fields: ApiErrorFields) {
    super({ foreign: fields.code }, message);
    this.endpoint = fields.endpoint;
    this.status = fields.status;
    this.typed = fields.typed;
    this.meaning = fields.meaning;
    this.requestId = fields.requestId;
    this.retryAfterMs = fields.retryAfterMs;
    this.details = fields.details;
  }
}

/**
 * The fields of an `ApiError`. Its code is in the current vocabulary; `http_<status>` if the body is not the service's
 * error envelope.
 */
export interface ApiErrorFields extends Omit<ApiError, keyof Error> {
  readonly code: string;
}

/** No response: the connection failed, or ended before the response was complete. */
export class ConnectionError extends SandflowError {
  override readonly name = 'ConnectionError';

  constructor(
    readonly endpoint: CallName,
    /** False only if it is certain that no byte of the request reached a socket, so that the call had no effect. */
    readonly requestSent: boolean,
    /** What the network said, such as `ECONNREFUSED` or `UND_ERR_SOCKET`. */
    readonly reason: string,
    /** What somebody has to mend, such as a certificate; undefined if the failure may pass by itself. */
    readonly problem?: Pick<ConnectionProblem, 'text' | 'mend'>,
  ) {
    super(
      'connection_failed',
      problem
        ? `No connection to the service: ${problem.text}. ${problem.mend}${requestSent ? '' : ' The call was not sent.'}`
        : requestSent
          ? `The connection to the service ended before the response was complete (${reason}). The call may have taken effect.`
          : `No connection to the service (${reason}). The call was not sent. Check the base URL and the network.`,
    );
  }
}

const sentTexts = {
  whole: (ms: number) => `No complete response of the service within ${ms} ms. The call may have taken effect.`,
  silence: (ms: number) =>
    `No data from the service for ${ms} ms before the response was complete. The call may have taken effect.`,
};
const unsentText = (ms: number) => `No connection to the service within ${ms} ms. The call was not sent.`;

/** The call's deadline passed before the answer was whole. */
export class TimeoutError extends SandflowError {
  override readonly name = 'TimeoutError';

  constructor(
    readonly endpoint: CallName,
    /** False only if it is certain that no byte of the request reached a socket, so that the call had no effect. */
    readonly requestSent: boolean,
    readonly timeoutMs: number,
    /** What lasted too long: the call as a whole, or the silence within a download. */
    kind: 'whole' | 'silence' = 'whole',
  ) {
    super('timeout', requestSent ? sentTexts[kind](timeoutMs) : unsentText(timeoutMs));
  }
}

/**
 * The service answered 2xx with a body that lacks what callers need. The error names the field and its type, and quotes no
 * value.
 */
export class UnexpectedResponseError extends SandflowError {
  override readonly name = 'UnexpectedResponseError';

  constructor(
    readonly endpoint: CallName,
    readonly status: number,
    /** Path of the field, such as `sandbox.state`; `body` for the whole. */
    readonly field: string,
    problem: string,
    /** What a caller does about it: a web page is not the service's, and says nothing about the call. */
    readonly meaning: Extract<ErrorMeaning, 'unreadable' | 'unavailable'> = 'unreadable',
  ) {
    super(
      'unexpected_response',
      `The service answered ${endpoint} with ${status}, but \`${field}\` of its response ${problem}.`,
    );
  }
}

/** A list has more rows than could be read. Nobody may take a part of it for the whole. */
export class ListIncompleteError extends SandflowError {
  override readonly name = 'ListIncompleteError';
  /** The answer with the rows that came. */
  readonly part: Readonly<Record<string, unknown>>;

  constructor(
    readonly endpoint: CallName,
    /** How many rows came, and which field says that there are more. */
    problem: string,
    { cause, part = {} }: { readonly cause?: unknown; readonly part?: Readonly<Record<string, unknown>> } = {},
  ) {
    super('list_incomplete', `The answer to ${endpoint} is only a part of the list: it has ${problem}.`, { cause });
    this.part = part;
  }
}

/** @param sent whether a byte of the request may have been sent */
export function exchangeError(endpoint: CallName, error: Error, sent: boolean): SandflowError {
  const reason = reasonOf(error);
  if (reason !== 'UND_ERR_INVALID_ARG') return new ConnectionError(endpoint, sent, reason, connectionProblemOf(error));
  return new SandflowError('bad_argument', 'A header or the path of the request has characters that cannot be sent.');
}

/** The code of an error of undici or of the system. The error itself may hold bytes of the response. */
function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
