/** A request to any path; only the path is checked. For tools. */
import type { Readable } from 'node:stream';
import type { Query } from './request-address.js';

/** A request to any path below the base URL. */
export interface PlainRequest {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL and escaped; without a query. */
  readonly path: `/${string}`;
  /** Query parameters. Default: none. */
  readonly query?: Query;
  /** JSON, sent as it is. */
  readonly body?: string;
  /** Id for the header that confirms a delete. */
  readonly confirmDelete?: string;
}

/** A response with any status. */
export interface PlainResponse {
  /** HTTP status. */
  readonly status: number;
  /** First value of a header; names in lower case. */
  readonly header: (name: string) => string | undefined;
  /** All of them; names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read or destroy it, whatever the status: it holds a connection until then. */
  readonly body: Readable;
}
