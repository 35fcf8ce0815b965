import type { z } from 'zod';
import type { Sandbox } from '../../contract/records/sandbox-records.js';
import type {
  CreateSandboxBody,
  ForkBody,
  listSandboxesQuerySchema,
  ResumeBody,
  UpdateSandboxBody,
} from '../../contract/requests/sandbox-requests.js';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { Answer, CallOptions, CreateOptions, ListAllOptions } from '../call-options.js';

/** Query of GET /sandboxes. Assumption: paging. */
export type ListSandboxesQuery = z.infer<typeof listSandboxesQuerySchema>;

/** Calls that create, change, stop, fork, share and delete sandboxes. */
export interface SandboxCalls {
  /** Returns all sandboxes, or those up to the `limit` of the query; `nextCursor` then continues. */
  listSandboxes(query?: ListSandboxesQuery, options?: CallOptions): Answer<'listSandboxes'>;
  /**
   * Returns all sandboxes, each once. The `limit` is that of each page.
   * @throws ListIncompleteError if the service pages in an unknown way, or without an end
   */
  listAllSandboxes(query?: Omit<ListSandboxesQuery, 'cursor'>, options?: ListAllOptions): Promise<Sandbox[]>;
  /** Safe to repeat with the same `idempotencyKey` and body; without a key each call can create a sandbox. */
  createSandbox(body?: CreateSandboxBody & OtherFields, options?: CreateOptions): Answer<'createSandbox'>;
  getSandbox(sandboxId: string, options?: CallOptions): Answer<'getSandbox'>;
  updateSandbox(sandboxId: string, body: UpdateSandboxBody, options?: CallOptions): Answer<'updateSandbox'>;
  /** Deletes permanently; sends the confirming header. */
  deleteSandbox(sandboxId: string, options?: CallOptions): Answer<'deleteSandbox'>;
  stopSandbox(sandboxId: string, options?: CallOptions): Answer<'stopSandbox'>;
  getStop(sandboxId: string, stopId: string, options?: CallOptions): Answer<'getStop'>;
  resumeSandbox(sandboxId: string, body?: ResumeBody, options?: CallOptions): Answer<'resumeSandbox'>;
  /** Safe to repeat with the same `idempotencyKey`, source and body; without a key each call can create a sandbox. */
  forkSandbox(sandboxId: string, body?: ForkBody & OtherFields, options?: CreateOptions): Answer<'forkSandbox'>;
  /** Machine time since the first of the month. */
  getSandboxUsage(sandboxId: string, options?: CallOptions): Answer<'getSandboxUsage'>;
  /** Only the creator may share a sandbox, and only if an organization is billed. Safe to repeat. */
  shareSandbox(sandboxId: string, options?: CallOptions): Answer<'shareSandbox'>;
  /** Takes effect at once. Safe to repeat. */
  unshareSandbox(sandboxId: string, options?: CallOptions): Answer<'unshareSandbox'>;
}
