import { type Caller, reachesSandbox } from '../../access/key-scope.js';
import { accessOf, requireAccess, sandboxesFor, sandboxFor } from '../../access/sandbox-access.js';
import type { Context } from '../../core/context.js';
import { costOf } from '../../core/cost.js';
import { createSandbox } from '../../sandboxes/create.js';
import { deleteSandbox, deletionStarted, deletionView } from '../../sandboxes/delete.js';
import { forkSandbox } from '../../sandboxes/fork.js';
import { hydrationOf } from '../../sandboxes/hydration.js';
import { resumeSandbox } from '../../sandboxes/resume.js';
import { shareSandbox, unshareSandbox } from '../../sandboxes/sharing.js';
import { stopSandbox } from '../../sandboxes/stop.js';
import { requireActionsOfUpdate, updateSandbox } from '../../sandboxes/update.js';
import { sandboxJson, sandboxView, secretView } from '../../sandboxes/view.js';
import { invalidRequest, notFound, sandboxNotFound } from '../../service-error.js';
import type { SandboxRecord } from '../../store/sandbox-record.js';
import type { OperationResult, Operations } from '../operation.js';

const shown = (context: Context, caller: Caller, sandbox: SandboxRecord): OperationResult => ({
  json: `"sandbox":${sandboxJson(context, caller, sandbox)}`,
  sandboxId: sandbox.id,
});

export const sandboxOperations = {
  listSandboxes(context, { caller, query }) {
    const { page, nextCursor } = pageOf(context, caller, query);
    const nowMs = context.clock.now();
    // A join would copy every row here, and the whole answer is copied once more when it is sent.
    let rows = '';
    for (const sandbox of page) {
      const json = sandboxJson(context, caller, sandbox);
      rows += rows === '' ? '' : ',';
      rows +=
        query.include === 'cost' ? `${json.slice(0, -1)},"cost":${JSON.stringify(costOf(sandbox, nowMs))}}` : json;
    }
    const cursor = query.limit === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
    return { json: `"sandboxes":[${rows}]${cursor}` };
  },

  async createSandbox(context, { caller, body, sentBody, idempotencyKey }) {
    return shown(context, caller, await createSandbox(context, body, { caller, idempotencyKey, sentBody }));
  },

  async getSandbox(context, { caller, params: { sandboxId } }) {
    if (!context.stores.sandboxes.get(sandboxId)) return reportCancelled(context, caller, sandboxId);
    const sandbox = sandboxFor(context, caller, sandboxId, 'view');
    const hydration = sandbox.hydrated ? null : await hydrationOf(context, sandboxId);
    // The sandbox may have changed in the meantime.
    const now = sandboxFor(context, caller, sandboxId, 'view');
    const secrets = secretView(context, caller, now);
    return { fields: { sandbox: { ...sandboxView(context, caller, now), hydration, ...secrets } } };
  },

  updateSandbox(context, { caller, params: { sandboxId }, body }) {
    requireActionsOfUpdate(caller, body);
    const sandbox = sandboxFor(context, caller, sandboxId, 'owner');
    return shown(context, caller, updateSandbox(context, sandbox, body, { caller }));
  },

  resumeSandbox(context, { caller, params: { sandboxId }, body }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    return shown(context, caller, resumeSandbox(context, sandbox, body ?? {}));
  },

  deleteSandbox(context, { caller, params: { sandboxId } }) {
    // While a deletion is under way, `get` no longer finds its sandbox. A repeated call is answered nevertheless.
    const known = context.stores.sandboxes.find(sandboxId);
    if (known) requireAccess(context, caller, known, 'owner');
    const operation = deleteSandbox(context, sandboxId);
    return { fields: deletionStarted(operation) };
  },

  getDeletionOperation(context, { caller, params: { operationId } }) {
    const operation = context.stores.deletions.get(operationId);
    const sandbox = operation && context.stores.sandboxes.find(operation.sandboxId);
    if (!operation || sandbox?.ownerId !== caller.accountId) {
      throw notFound(`The deletion operation ${operationId} does not exist.`);
    }
    requireAccess(context, caller, sandbox, 'owner');
    const { id, status, sandboxId } = operation;
    return { fields: { id, status, operation: deletionView(operation) }, sandboxId };
  },

  async forkSandbox(context, { caller, params: { sandboxId }, body, sentBody, idempotencyKey }) {
    const sandbox = await forkSandbox(context, sandboxId, { body, caller, idempotencyKey, sentBody });
    const source = `"sourceSandboxId":${JSON.stringify(sandboxId)}`;
    return { json: `"sandbox":${sandboxJson(context, caller, sandbox)},${source}`, sandboxId: sandbox.id };
  },

  /** Shows the same meter as `cost` in the list of sandboxes. */
  getSandboxUsage(context, { caller, params: { sandboxId } }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'view');
    return { fields: { usage: costOf(sandbox, context.clock.now()) } };
  },

  stopSandbox(context, { caller, params: { sandboxId } }) {
    const stop = stopSandbox(context, sandboxFor(context, caller, sandboxId, 'view'));
    return { fields: { id: stop.id, stop } };
  },

  getStop(context, { caller, params: { sandboxId, stopId } }) {
    sandboxFor(context, caller, sandboxId, 'view');
    const stored = context.stores.stops.get(stopId);
    if (stored?.sandboxId !== sandboxId) {
      throw notFound(`The sandbox ${sandboxId} has no stop ${stopId}.`);
    }
    const { sandboxId: _, ...stop } = stored;
    return { fields: { id: stop.id, stop } };
  },

  shareSandbox(context, { caller, params: { sandboxId } }) {
    const found = sandboxFor(context, caller, sandboxId, 'owner');
    const { sandbox, message } = shareSandbox(context, found);
    return { fields: { sandbox: sandboxView(context, caller, sandbox), message } };
  },

  unshareSandbox(context, { caller, params: { sandboxId } }) {
    const found = sandboxFor(context, caller, sandboxId, 'owner');
    const { sandbox, message } = unshareSandbox(context, found);
    return { fields: { sandbox: sandboxView(context, caller, sandbox), message } };
  },
} satisfies Partial<Operations>;

/** Reports a cancelled sandbox once, with only these fields. From then on it is not found (trap S5). */
function reportCancelled(context: Context, caller: Caller, sandboxId: string): OperationResult {
  const sandbox = context.stores.sandboxes.find(sandboxId);
  if (sandbox?.gone !== 'cancelled' || sandbox.ownerId !== caller.accountId) throw sandboxNotFound(sandboxId);
  requireAccess(context, caller, sandbox, 'owner');
  context.stores.sandboxes.put({ ...sandbox, gone: 'reported' });
  return { fields: { sandbox: { id: sandbox.id, state: sandbox.state, error: sandbox.error } } };
}

/** Assumption: a cursor is the id of the last sandbox of a page. */
function pageOf(
  context: Context,
  caller: Caller,
  { limit, cursor }: { readonly limit?: number; readonly cursor?: string },
): { readonly page: readonly SandboxRecord[]; readonly nextCursor: string | null } {
  const all = sandboxesFor(context, caller);
  const rest = cursor === undefined ? all : after(context, caller, { all, cursor });
  if (limit === undefined || rest.length <= limit) return { page: rest, nextCursor: null };
  const page = rest.slice(0, limit);
  return { page, nextCursor: page.at(-1)?.id ?? null };
}

/**
 * The sandboxes after the one that the cursor names, even if that one no longer exists.
 * @throws ServiceError `invalid_request` for a cursor that no list of the caller can have given
 */
function after(
  context: Context,
  caller: Caller,
  { all, cursor }: { readonly all: readonly SandboxRecord[]; readonly cursor: string },
): readonly SandboxRecord[] {
  const at = all.findIndex(({ id }) => id === cursor);
  if (at >= 0) return all.slice(at + 1);
  const gone = context.stores.sandboxes.find(cursor);
  if (!gone || accessOf(context, caller.accountId, gone) === undefined || !reachesSandbox(caller.scope, gone)) {
    throw invalidRequest('cursor: it is not the nextCursor of a list. Begin again without a cursor.');
  }
  const later = context.stores.sandboxes.idsAfter(cursor);
  return all.filter(({ id }) => later.has(id));
}
