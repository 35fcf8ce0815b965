/** What a row of the endpoint table says. */
import type { z } from 'zod';

/**
 * What a caller may do after an ambiguous failure (a lost response, a timeout, an untyped 5xx):
 * - `safe`: repeat; it ends in the same state.
 * - `keyed`: repeat with the same `Idempotency-Key` within its 24 hours.
 * - `read-first`: read, adopt what is there, repeat only if nothing has changed since.
 * - `evidence`: adopt evidence that it happened; send again only when it certainly was not sent.
 * - `once`: never repeat.
 * - `secret`: repeat until a secret has been read and kept.
 */
export type RetryClass = 'safe' | 'keyed' | 'read-first' | 'evidence' | 'once' | 'secret';

/** Scope actions of API keys that this table uses (specification, "Scope"). */
export type ScopeAction =
  | 'sandbox.create'
  | 'sandbox.read'
  | 'sandbox.update'
  | 'sandbox.stop'
  | 'sandbox.resume'
  | 'sandbox.delete'
  | 'agent.prompt'
  | 'exec'
  | 'file.read'
  | 'file.write'
  | 'account.read'
  | 'account.admin';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, with `{parameters}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Status of success. */
  readonly status: 200 | 201 | 202;
  /** `type` of the response envelope. */
  readonly type: string;
  readonly scope: ScopeAction;
  readonly retry: RetryClass;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** True where the endpoint takes its body or leaves it out. */
  readonly bodyOptional?: boolean;
  /** Takes `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Needs `X-Svc-Confirm-Delete` with the id of what is deleted. */
  readonly confirmDelete?: boolean;
  readonly response: z.ZodObject;
  /** What of the row is an assumption and not shown by the specification. */
  readonly assumed?: string;
}
