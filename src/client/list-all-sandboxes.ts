import type { Sandbox } from '../contract/records.js';
import type { ListSandboxesQuery, SandboxCalls } from './areas/sandbox-calls.js';
import type { CallOptions } from './call-options.js';
import { UnexpectedResponseError } from './unexpected-response-error.js';

/** An account has fewer; an endless list would fill the memory. */
const maxPages = 1_000;
const maxSandboxes = 100_000;

/**
 * Reads every page of the list. Assumption: paging by `nextCursor`.
 * @throws UnexpectedResponseError when a cursor comes back twice, or the list has more than 1,000 pages or 100,000 sandboxes
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
      throw new UnexpectedResponseError('listSandboxes', 200, 'nextCursor', 'names a page that was already read');
    }
    if (cursor !== undefined) seen.add(cursor);
    if (seen.size >= maxPages || byId.size > maxSandboxes) {
      throw new UnexpectedResponseError('listSandboxes', 200, 'nextCursor', 'has no end');
    }
  } while (cursor !== undefined);
  return [...byId.values()];
}
