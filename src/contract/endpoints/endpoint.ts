/** The types of the endpoint table. */
import { z } from 'zod';
import type { AssumptionId } from '../assumptions.js';

/**
 * What a caller may do if it is unknown whether a call took effect (a lost response, a timeout, an untyped 5xx).
 * - `safe`: Repeat the call. A second one changes nothing.
 * - `keyed`: Repeat the call with the same `Idempotency-Key`, which the service remembers for 24 hours.
 * - `read-first`: Read what the call changes. Repeat the call only if the read shows that it had no effect.
 * - `evidence`: Look for evidence that the call took effect. Repeat it only if it is certain that the call was not
 *   sent.
 * - `once`: Never repeat the call.
 * - `secret`: Repeat the call until its answer, which holds a secret, has been read and stored.
 */
export type RetryClass = 'safe' | 'keyed' | 'read-first' | 'evidence' | 'once' | 'secret';

/**
 * Actions of the credential that is written into a sandbox. They apply to that sandbox only (specification, "Scope").
 */
export const sandboxCredentialActions = [
  'agent.prompt',
  'exec',
  'file.read',
  'file.write',
  'ssh',
  'desktop',
  'host',
  'snapshot.read',
  'snapshot.write',
] as const;

/** Scope actions of API keys (specification, "Scope"); `*` stands for all of them. */
export const scopeActions = [
  'sandbox.create',
  'sandbox.read',
  'sandbox.update',
  'sandbox.stop',
  'sandbox.resume',
  'sandbox.fork',
  'sandbox.delete',
  ...sandboxCredentialActions,
  'environment.read',
  'environment.write',
  'account.read',
  'account.admin',
] as const;
/** A scope action of API keys. */
export type ScopeAction = (typeof scopeActions)[number];

/** A row of the endpoint table. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, with `{parameters}`. */
  readonly path: `/${string}`;
  /** A short description for the OpenAPI document. */
  readonly summary: string;
  /** Status of success. */
  readonly status: 200 | 201 | 202;
  /** `type` of the response envelope. Null if the answer is raw bytes, or has `success` instead of `ok` and `type`. */
  readonly type: string | null;
  /** The scope action that an API key needs. */
  readonly scope: ScopeAction;
  /** Whether a caller may repeat the call after an ambiguous failure. */
  readonly retry: RetryClass;
  /** Schema of the query; absent if the endpoint takes no query. */
  readonly query?: z.ZodObject;
  /** Schema of the JSON body; absent if the endpoint takes no body. */
  readonly body?: z.ZodObject;
  /** True if a request may leave the body out. */
  readonly bodyOptional?: boolean;
  /** True if the endpoint accepts `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** True if the endpoint needs `X-Svc-Confirm-Delete` with the id of the deleted resource. */
  readonly confirmDelete?: boolean;
  /** True if the success answer is raw bytes: a file, or a folder as tar.gz. */
  readonly raw?: boolean;
  /** Fields of the success answer in addition to the envelope; empty if the answer is raw bytes. */
  readonly response: z.ZodObject;
  /** True if the answer holds a secret, which must not reach a log or a workflow. */
  readonly secret?: boolean;
  /**
   * True if API keys are refused, because an interactive session is needed (specification, "Key lifecycle" and
   * "Authentication").
   */
  readonly sessionOnly?: boolean;
  /** The parts of the row that the specification does not show. `assumptions` describes each of them in a sentence. */
  readonly assumed?: readonly AssumptionId[];
}

/** The fields that all rows of read endpoints share. */
export const read = { method: 'GET', status: 200, retry: 'safe' } as const;
/** Of those that change something, and change nothing more when they are repeated. */
export const write = { method: 'POST', status: 200, retry: 'safe' } as const;
/** Of those that change only the fields of their body. */
export const update = { method: 'PATCH', status: 200, retry: 'safe' } as const;
/** Of permanent deletions, which go on after the answer. */
export const deletion = { method: 'DELETE', status: 202, retry: 'safe', confirmDelete: true } as const;
/** Of files, and of folders as tar.gz: their answers are raw bytes. */
export const download = {
  ...read,
  type: null,
  raw: true,
  response: z.looseObject({}),
  assumed: ['A-raw-bytes'],
} as const;
