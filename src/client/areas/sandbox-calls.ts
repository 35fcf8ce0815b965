import type { z } from 'zod';
import { pathOf } from '../../contract/endpoints.js';
import type { Sandbox } from '../../contract/records.js';
import type {
  CreateSandboxBody,
  ForkBody,
  listSandboxesQuerySchema,
  ResumeBody,
  UpdateSandboxBody,
} from '../../contract/requests.js';
import type { Answer, CallOptions, CreateOptions } from '../call-options.js';
import type { Call } from '../caller.js';
import { listAllSandboxes } from '../list-all-sandboxes.js';

/** Query of GET /sandboxes. Assumption: paging. */
export type ListSandboxesQuery = z.infer<typeof listSandboxesQuerySchema>;

/** The life of a sandbox, and who may use it. */
export interface SandboxCalls {
  /** One page, if the service pages; see `listAllSandboxes`. */
  listSandboxes(query?: ListSandboxesQuery, options?: CallOptions): Answer<'listSandboxes'>;
  /** Follows `nextCursor` to the end; a sandbox that moved between pages comes once. The deadline is per page. */
  listAllSandboxes(query?: Omit<ListSandboxesQuery, 'cursor'>, options?: CallOptions): Promise<Sandbox[]>;
  /** Safe to repeat with the same `idempotencyKey` and body; without a key each call can create a sandbox. */
  createSandbox(body?: CreateSandboxBody, options?: CreateOptions): Answer<'createSandbox'>;
  getSandbox(sandboxId: string, options?: CallOptions): Answer<'getSandbox'>;
  updateSandbox(sandboxId: string, body: UpdateSandboxBody, options?: CallOptions): Answer<'updateSandbox'>;
  /** Deletes permanently; sends the confirming header. */
  deleteSandbox(sandboxId: string, options?: CallOptions): Answer<'deleteSandbox'>;
  stopSandbox(sandboxId: string, options?: CallOptions): Answer<'stopSandbox'>;
  getStop(sandboxId: string, stopId: string, options?: CallOptions): Answer<'getStop'>;
  resumeSandbox(sandboxId: string, body?: ResumeBody, options?: CallOptions): Answer<'resumeSandbox'>;
  /** Safe to repeat with the same `idempotencyKey`, source and body; without a key each call can create a sandbox. */
  forkSandbox(sandboxId: string, body?: ForkBody, options?: CreateOptions): Answer<'forkSandbox'>;
  /** Machine time since the first of the month. */
  getSandboxUsage(sandboxId: string, options?: CallOptions): Answer<'getSandboxUsage'>;
  /** Only for its creator, and only if an organization is billed. Safe to repeat. */
  shareSandbox(sandboxId: string, options?: CallOptions): Answer<'shareSandbox'>;
  /** Takes effect at once. Safe to repeat. */
  unshareSandbox(sandboxId: string, options?: CallOptions): Answer<'unshareSandbox'>;
}

export function sandboxCalls(call: Call): SandboxCalls {
  const calls: SandboxCalls = {
    listSandboxes: (query, o) => call('listSandboxes', { path: pathOf('listSandboxes', {}), query }, o),
    listAllSandboxes: (query, o) => listAllSandboxes(calls.listSandboxes, query, o),
    createSandbox: (body = {}, o) => call('createSandbox', { path: pathOf('createSandbox', {}), body }, o),
    getSandbox: (sandboxId, o) => call('getSandbox', { path: pathOf('getSandbox', { sandboxId }) }, o),
    updateSandbox: (sandboxId, body, o) =>
      call('updateSandbox', { path: pathOf('updateSandbox', { sandboxId }), body }, o),
    deleteSandbox: (sandboxId, o) =>
      call('deleteSandbox', { path: pathOf('deleteSandbox', { sandboxId }), confirmDelete: sandboxId }, o),
    stopSandbox: (sandboxId, o) => call('stopSandbox', { path: pathOf('stopSandbox', { sandboxId }) }, o),
    getStop: (sandboxId, stopId, o) => call('getStop', { path: pathOf('getStop', { sandboxId, stopId }) }, o),
    resumeSandbox: (sandboxId, body, o) =>
      call('resumeSandbox', { path: pathOf('resumeSandbox', { sandboxId }), body }, o),
    forkSandbox: (sandboxId, body = {}, o) =>
      call('forkSandbox', { path: pathOf('forkSandbox', { sandboxId }), body }, o),
    getSandboxUsage: (sandboxId, o) => call('getSandboxUsage', { path: pathOf('getSandboxUsage', { sandboxId }) }, o),
    shareSandbox: (sandboxId, o) => call('shareSandbox', { path: pathOf('shareSandbox', { sandboxId }) }, o),
    unshareSandbox: (sandboxId, o) => call('unshareSandbox', { path: pathOf('unshareSandbox', { sandboxId }) }, o),
  };
  return calls;
}
