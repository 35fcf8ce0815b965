/** What callers say beside the request, and what they are told beside the answer. */
import type { EndpointName, ResponseOf } from '../contract/endpoints.js';

/** Where an error or a record comes from: an endpoint, or the request line of `SandboxClient.request`. */
export type CallName = EndpointName | `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Options of every call of a `SandboxClient`. */
export interface CallOptions {
  /** Deadline of this call in ms, over connect, headers and body. Default: the client's. */
  readonly timeoutMs?: number;
  /** Ends the call at once; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told of an answer of which rows could not be read, and were left out: how many. */
  readonly onRowsLeftOut?: (rows: number) => void;
}

/** Options of calls that create a sandbox. */
export interface CreateOptions extends CallOptions {
  /** At most one sandbox is made per key within 24 hours (specification, "Limits"). */
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
  /** HTTP status, or null where no answer came. */
  readonly status: number | null;
  /** Code of the error that was thrown; null after success; `aborted` after the caller's abort. */
  readonly errorCode: string | null;
  /** `req_…` of the response; null without one. */
  readonly requestId: string | null;
}

/** What a method of an endpoint resolves to: the whole parsed body. */
export type Answer<Name extends EndpointName> = Promise<ResponseOf<Name>>;
