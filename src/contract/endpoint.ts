/** What a row of the endpoint table says. */
import type { z } from 'zod';
import type { AssumptionId } from './assumptions.js';

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

/** Scope actions of API keys (specification, "Scope"); `*` stands for all of them. */
export const scopeActions = [
  'sandbox.create',
  'sandbox.read',
  'sandbox.update',
  'sandbox.stop',
  'sandbox.resume',
  'sandbox.fork',
  'sandbox.delete',
  'agent.prompt',
  'exec',
  'file.read',
  'file.write',
  'ssh',
  'desktop',
  'host',
  'snapshot.read',
  'snapshot.write',
  'environment.read',
  'environment.write',
  'account.read',
  'account.admin',
] as const;
/** A scope action of API keys. */
export type ScopeAction = (typeof scopeActions)[number];

/** A row of the endpoint table. */
export interface Endpoint {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, with `{parameters}`. */
  readonly path: `/${string}`;
  /** One sentence for the OpenAPI document. */
  readonly summary: string;
  /** Status of success. */
  readonly status: 200 | 201 | 202;
  /** `type` of the response envelope; null if the answer is bytes, or carries `success` in place of `ok` and `type`. */
  readonly type: string | null;
  /** The scope action that an API key needs. */
  readonly scope: ScopeAction;
  /** Whether a caller may repeat the call after an ambiguous failure. */
  readonly retry: RetryClass;
  /** Schema of the query; absent if the endpoint takes none. */
  readonly query?: z.ZodObject;
  /** Schema of the JSON body; absent if the endpoint takes none. */
  readonly body?: z.ZodObject;
  /** True if the endpoint takes its body or leaves it out. */
  readonly bodyOptional?: boolean;
  /** Takes `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Needs `X-Svc-Confirm-Delete` with the id of what is deleted. */
  readonly confirmDelete?: boolean;
  /** True if a success is raw bytes: a file, or a folder as tar.gz. */
  readonly raw?: boolean;
  /** Fields of the success in addition to the envelope; empty if the answer is bytes. */
  readonly response: z.ZodObject;
  /** True if the answer holds a secret, which must not reach a log or a workflow. */
  readonly secret?: boolean;
  /** True if an API key is refused: an interactive session is needed (specification, "Key lifecycle" and "Authentication"). */
  readonly sessionOnly?: boolean;
  /** What of the row is an assumption and not shown by the specification; `assumptions` says each in a sentence. */
  readonly assumed?: readonly AssumptionId[];
}

/** What the rows of reads share. */
export const read = { method: 'GET', status: 200, retry: 'safe' } as const;
