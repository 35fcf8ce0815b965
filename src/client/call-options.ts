/** Options and records of calls. */
import type { EndpointName, ResponseOf } from '../contract/endpoints.js';

/** Where an error or a record comes from: an endpoint, or the request line of `SandboxClient.request`. */
export type CallName = EndpointName | `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Options of every call of a `SandboxClient`. */
export interface CallOptions {
  /** Deadline of this call in ms, over connect, headers and body. Default: the client's. */
  readonly timeoutMs?: number;
  /** Ends the call at once; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with the number of unreadable rows that were left out of a response. */
  readonly onRowsLeftOut?: (rows: number) => void;
}

/** Options of calls that create a sandbox. */
export interface CreateOptions extends CallOptions {
  /** At most one sandbox is created per key within 24 hours (specification, "Limits"). */
  readonly idempotencyKey?: string;
}

/** Options of downloads and of `SandboxClient.request`. */
export interface StreamOptions {
  /** The longest silence in ms, while connecting and between two pieces of the body. Default: the client's deadline. */
  readonly timeoutMs?: number;
  /** Ends the download at once, its connection too. */
  readonly signal?: AbortSignal;
}

/** What one call did, for metrics. Holds no payload and no secret. */
export interface CallRecord {
  /** The endpoint, or the request line of `SandboxClient.request`. */
  readonly endpoint: CallName;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** Of a download: until its last byte. */
  readonly durationMs: number;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Code of the error that was thrown; null after success; `aborted` after the caller's abort. */
  readonly errorCode: string | null;
  /** `req_…` of the response; null without one. */
  readonly requestId: string | null;
}

/** The result of an endpoint's method: the whole parsed body. */
export type Answer<Name extends EndpointName> = Promise<ResponseOf<Name>>;
