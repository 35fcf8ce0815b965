/** The options of the client and of its calls, and the types that calls return and record. */
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { EndpointName, ResponseOf } from '../contract/endpoints/endpoints.js';
import type { RequestForm } from '../contract/request-form.js';

/** The call of an error or a record: the name of an endpoint, or the request line of `SandboxClient.request`. */
export type CallName = EndpointName | `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Query parameters; undefined values are omitted. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** Options of every call of a `SandboxClient`. */
export interface CallOptions {
  /**
   * Deadline of this call in ms, which covers connect, headers and body. It applies to each page of a list. Default: the
   * client's.
   */
  readonly timeoutMs?: number;
  /** Ends the call at once; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Reads each page of a list: makes the given call, and may repeat it. Default: makes it once. */
  readonly eachPage?: <T>(read: (call: CallOptions) => Promise<T>) => Promise<T>;
  /** Called with the number of unreadable rows that were left out of a response. */
  readonly onRowsLeftOut?: (rows: number) => void;
  /** Called with the size of the body of a response, or of a page, in bytes. */
  readonly onBodyRead?: (bytes: number) => void;
}

/** Options of `listAllSandboxes`. */
export interface ListAllOptions extends CallOptions {
  /**
   * Says of the id of a sandbox whether it is wanted. Other sandboxes are neither checked nor returned: of a long list, the
   * check is most of the work. May be called more than once for an id. Default: all are wanted.
   */
  readonly isWanted?: (sandboxId: string) => boolean;
}

/** Options of calls that create a sandbox. */
export interface CreateOptions extends CallOptions {
  /** At most one sandbox is created per key within 24 hours (specification, "Limits"). */
  readonly idempotencyKey?: string;
}

/** Options of downloads and of `SandboxClient.request`. */
export interface StreamOptions {
  /**
   * The longest time without data, in ms, while connecting and between two pieces of the body. Default: the client's
   * deadline.
   */
  readonly timeoutMs?: number;
  /** Ends the download at once and closes its connection. */
  readonly signal?: AbortSignal;
}

/** What one call did, for metrics. Holds no payload and no secret. */
export interface CallRecord {
  /** The endpoint, or the request line of `SandboxClient.request`. */
  readonly endpoint: CallName;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** Duration of the call; a download lasts until its last byte. */
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

/** A request to any path below the base URL. */
export interface PlainRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL and escaped; without a query. */
  readonly path: `/${string}`;
  /** Query parameters. Default: none. */
  readonly query?: Query;
  /** JSON text, sent unchanged. */
  readonly body?: string;
  /** Id for the header that confirms a delete. */
  readonly confirmDelete?: string;
}

/** A response with any status. */
export interface PlainResponse {
  readonly status: number;
  /** First value of a header; names in lower case. */
  readonly header: (name: string) => string | undefined;
  /** All headers; names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * Always read or destroy the body, because it holds a connection until then. It fails with ConnectionError,
   * TimeoutError or the signal's reason.
   */
  readonly body: Readable;
}

/** Options of `createSandboxClient`. */
export interface SandboxClientOptions extends RequestForm {
  /** Base URL up to and including the version, such as `https://api.example.com/v1`. */
  readonly baseUrl: string;
  /** Whether the base URL may be `http://` on another machine, which sends the key in plain text. Default: false. */
  readonly allowHttp?: boolean;
  /** The key, or a function that is called for each request, so that the key can be replaced while a worker runs. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Deadline per call in ms, which covers the wait for a connection, connect, headers and body. Default: 30 000. */
  readonly timeoutMs?: number;
  /** Maximum number of open connections; further calls wait. Default: 128. */
  readonly connections?: number;
  /** Called after every call, for metrics. */
  readonly onCall?: (record: CallRecord) => void;
  /** Sends the requests instead of a connection pool; for tests. The client closes it. */
  readonly dispatcher?: Dispatcher;
}
