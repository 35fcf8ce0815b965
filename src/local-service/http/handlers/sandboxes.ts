import type { Context } from '../../domain/context.js';
import { createSandbox } from '../../domain/create.js';
import { deleteSandbox } from '../../domain/deletion.js';
import { costOf } from '../../domain/machine-time.js';
import { resumeSandbox } from '../../domain/resume.js';
import { hydrationOf, sandboxJson, sandboxView } from '../../domain/sandbox-view.js';
import { updateSandbox } from '../../domain/update.js';
import { ServiceError, sandboxNotFound } from '../../service-error.js';
import type { SandboxRecord } from '../../store/sandbox-record.js';
import type { OperationResult, Operations } from '../operation.js';

const shown = (sandbox: SandboxRecord): OperationResult => ({
  json: `"sandbox":${sandboxJson(sandbox)}`,
  sandboxId: sandbox.id,
});

export const sandboxOperations: Pick<
  Operations,
  | 'listSandboxes'
  | 'createSandbox'
  | 'getSandbox'
  | 'updateSandbox'
  | 'resumeSandbox'
  | 'deleteSandbox'
  | 'getDeletionOperation'
> = {
  listSandboxes(context, { query }) {
    const { page, nextCursor } = pageOf(context, query);
    const texts =
      query.include === 'cost'
        ? page.map((sandbox) => JSON.stringify({ ...sandboxView(sandbox), cost: costOf(sandbox) }))
        : page.map(sandboxJson);
    const cursor = query.limit === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
    return { json: `"sandboxes":[${texts.join(',')}]${cursor}` };
  },

  async createSandbox(context, { body, sentBody, idempotencyKey }) {
    return shown(await createSandbox(context, body, { idempotencyKey, sentBody }));
  },

  getSandbox(context, { params: { sandboxId } }) {
    const sandbox = context.stores.sandboxes.get(sandboxId);
    if (!sandbox) return reportCancelled(context, sandboxId);
    if (sandbox.hydrated) return shown(sandbox);
    const hydration = hydrationOf(sandbox, context.timings.hydrationMs);
    return { fields: { sandbox: { ...sandboxView(sandbox), hydration } } };
  },

  updateSandbox: (context, { params, body }) => shown(updateSandbox(context, params.sandboxId, body)),

  resumeSandbox: (context, { params, body }) => shown(resumeSandbox(context, params.sandboxId, body ?? {})),

  deleteSandbox(context, { params }) {
    const operation = deleteSandbox(context, params.sandboxId);
    return { fields: { operationId: operation.id, operation } };
  },

  getDeletionOperation(context, { params: { operationId } }) {
    const operation = context.stores.deletions.get(operationId);
    if (!operation) throw new ServiceError(404, 'not_found', `There is no deletion operation ${operationId}.`);
    return { fields: { id: operation.id, status: operation.status, operation }, sandboxId: operation.sandboxId };
  },
};

/** A cancelled sandbox is reported once, with no more than this, and is not found from then on (trap S5). */
function reportCancelled(context: Context, sandboxId: string): OperationResult {
  const sandbox = context.stores.sandboxes.find(sandboxId);
  if (sandbox?.gone !== 'cancelled') throw sandboxNotFound(sandboxId);
  context.stores.sandboxes.put({ ...sandbox, gone: 'reported' });
  return { fields: { sandbox: { id: sandbox.id, state: sandbox.state, error: sandbox.error } } };
}

/** Assumption: a cursor is the id of the last sandbox of a page. */
function pageOf(
  context: Context,
  { limit, cursor }: { readonly limit?: number; readonly cursor?: string },
): { readonly page: readonly SandboxRecord[]; readonly nextCursor: string | null } {
  const all = [...context.stores.sandboxes.living()];
  const { createdAt: since = '' } = (cursor && context.stores.sandboxes.find(cursor)) || {};
  const rest = cursor === undefined ? all : all.slice(startAfter(all, cursor, since));
  if (limit === undefined || rest.length <= limit) return { page: rest, nextCursor: null };
  const page = rest.slice(0, limit);
  return { page, nextCursor: page.at(-1)?.id ?? null };
}

/** Where a page begins, also when the sandbox of the cursor has gone since. */
function startAfter(all: readonly SandboxRecord[], cursor: string, since: string): number {
  const at = all.findIndex(({ id }) => id === cursor);
  if (at >= 0) return at + 1;
  const next = all.findIndex(({ createdAt }) => createdAt > since);
  return next >= 0 ? next : all.length;
}
