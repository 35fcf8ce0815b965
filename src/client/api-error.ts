import type { ErrorMeaning } from '../contract/error-codes.js';
import { SandflowError } from '../contract/sandflow-error.js';
import type { CallName } from './call-options.js';

/** The fields of an `ApiError`. */
export interface ApiErrorFields {
  /** The endpoint that answered. */
  readonly endpoint: CallName;
  /** HTTP status; authoritative. */
  readonly status: number;
  /** The code in the current vocabulary; `http_<status>` if the body is not the service's error envelope. */
  readonly code: string;
  /** True only for the service's own error envelope, not for the error of a proxy. */
  readonly typed: boolean;
  /** What a caller does about the error; see `errorMeanings`. */
  readonly meaning: ErrorMeaning;
  /** `req_…`, for support requests. */
  readonly requestId: string | null;
  /** Wait from `Retry-After`, in ms; null without one. */
  readonly retryAfterMs: number | null;
  /** `error.details` of the envelope, such as `provider` and `setupUrl`. */
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** The service (or a proxy before it) answered with a status other than 2xx. Specification, "Errors". */
export class ApiError extends SandflowError implements ApiErrorFields {
  override readonly name = 'ApiError';
  readonly endpoint: CallName;
  readonly status: number;
  readonly typed: boolean;
  readonly meaning: ErrorMeaning;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
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
