/** The interface between a route and the domain: typed input from the endpoint table, and the fields of the answer. */
import type { z } from 'zod';
import type { EndpointName, endpoints, PathParameters } from '../../../src/contract/endpoints/endpoints.js';
import type { Caller } from '../access/key-scope.js';
import type { Context } from '../core/context.js';
import type { Download } from '../machine/disk/download.js';

type Table = typeof endpoints;
type Parsed<Name extends EndpointName, Part extends 'body' | 'query'> = Table[Name] extends {
  readonly [key in Part]: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : undefined;

export interface OperationInput<Name extends EndpointName> {
  readonly params: Readonly<Record<PathParameters<Name>, string>>;
  readonly query: Parsed<Name, 'query'>;
  readonly body: Parsed<Name, 'body'>;
  /** The body as it was sent, including unknown fields. */
  readonly sentBody: unknown;
  readonly idempotencyKey: string | undefined;
  readonly caller: Caller;
  /** The vocabulary of the caller. The input is always in the current vocabulary. */
  readonly surface: 'current' | 'legacy';
}

export interface OperationResult {
  /**
   * Bytes instead of JSON, for endpoints that are `raw`: an unchanged file, or a folder as tar.gz (assumptions,
   * "Envelopes").
   */
  readonly raw?: Download;
  /** Throws a ServiceError for a caller that may not read `raw`. Asked again while it is sent. */
  readonly mayRead?: (caller: Caller) => unknown;
  /** Fields of the answer in addition to `ok` and `type`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The same fields as JSON text, if available: the part after `"type":…,` in the answer. */
  readonly json?: string;
  /** The sandbox of the call, for the call book, if the path does not name it. */
  readonly sandboxId?: string;
}

type Operation<Name extends EndpointName> = (
  context: Context,
  input: OperationInput<Name>,
) => OperationResult | Promise<OperationResult>;

/** One operation for each endpoint of the table. */
export type Operations = { readonly [Name in EndpointName]: Operation<Name> };
