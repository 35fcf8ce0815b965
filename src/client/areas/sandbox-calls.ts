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
import type { Answer, CallOptions, CreateOptions } from '../call-options.js';
import type { Call } from '../caller.js';
import { UnexpectedResponseError } from '../errors.js';

/** Query of GET /sandboxes. Assumption: paging. */
export type ListSandboxesQuery = z.infer<typeof listSandboxesQuerySchema>;

/** Calls that create, change, stop, fork, share and delete sandboxes. */
export interface SandboxCalls {
  /** Returns one page if the service pages, else all sandboxes; see `listAllSandboxes`. */
  listSandboxes(query?: ListSandboxesQuery, options?: CallOptions): Answer<'listSandboxes'>;
  /** Follows `nextCursor` to the end; a sandbox on two pages is returned once. The deadline applies to each page. */
  listAllSandboxes(query?: Omit<ListSandboxesQuery, 'cursor'>, options?: CallOptions): Promise<Sandbox[]>;
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

export function sandboxCalls(call: Call): SandboxCalls {
  const calls: SandboxCalls = {
    listSandboxes: (query, o) => call('listSandboxes', { query }, o),
    listAllSandboxes: (query, o) => listAllSandboxes(calls.listSandboxes, query, o),
    createSandbox: (body = {}, o) => call('createSandbox', { body }, o),
    getSandbox: (sandboxId, o) => call('getSandbox', { sandboxId }, o),
    updateSandbox: (sandboxId, body, o) => call('updateSandbox', { sandboxId, body }, o),
    deleteSandbox: (sandboxId, o) => call('deleteSandbox', { sandboxId, confirmDelete: sandboxId }, o),
    stopSandbox: (sandboxId, o) => call('stopSandbox', { sandboxId }, o),
    getStop: (sandboxId, stopId, o) => call('getStop', { sandboxId, stopId }, o),
    resumeSandbox: (sandboxId, body, o) => call('resumeSandbox', { sandboxId, body }, o),
    forkSandbox: (sandboxId, body = {}, o) => call('forkSandbox', { sandboxId, body }, o),
    getSandboxUsage: (sandboxId, o) => call('getSandboxUsage', { sandboxId }, o),
    shareSandbox: (sandboxId, o) => call('shareSandbox', { sandboxId }, o),
    unshareSandbox: (sandboxId, o) => call('unshareSandbox', { sandboxId }, o),
  };
  return calls;
}

/** Maximum number of pages. An account has fewer, and an endless list would fill the memory. */
const maxPages = 1_000;
const maxSandboxes = 100_000;

/**
 * Reads every page of the list. Assumption: paging by `nextCursor`.
 * @throws UnexpectedResponseError when a cursor comes back twice, or when the list has more than 1,000 pages or 100,000
 *   sandboxes
 */
export async function listAllSandboxes(
  listPage: SandboxCalls['listSandboxes'],
  query: Omit<ListSandboxesQuery, 'cursor'> = {},
  options?: CallOptions,
): Promise<Sandbox[]> {
  const byId = new Map<string, Sandbox>();
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await listPage({ ...query, cursor }, options);
    for (const sandbox of page.sandboxes) byId.set(sandbox.id, sandbox);
    cursor = page.nextCursor || undefined;
    if (cursor !== undefined && seen.has(cursor)) {
      throw new UnexpectedResponseError('listSandboxes', 200, 'nextCursor', 'points to a page that was already read');
    }
    if (cursor !== undefined) seen.add(cursor);
    if (seen.size >= maxPages || byId.size > maxSandboxes) {
      throw new UnexpectedResponseError('listSandboxes', 200, 'nextCursor', 'never ends');
    }
  } while (cursor !== undefined);
  return [...byId.values()];
}
