/** Create (specification, POST /sandboxes). */
import type { CreateSandboxBody } from '../../../src/contract/requests/sandbox-requests.js';
import { type Caller, requireEnvironmentOnKey, requireSandboxOnKey } from '../access/key-scope.js';
import { requireStandingToCreate } from '../accounts/billing-status.js';
import { refuseOverLimit } from '../accounts/limits.js';
import type { Context } from '../core/context.js';
import { acceptOnce, bodyHash } from '../core/idempotency.js';
import { environmentFromBody } from '../environments/pin.js';
import { namedSnapshotFor } from '../snapshots/snapshots.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { scheduleBoot } from './boot.js';
import { beginAcceptance, newSandbox } from './new-record.js';

/**
 * Creates a sandbox, or returns the sandbox of an earlier call with the same key, even if that no longer exists.
 * @param options.sentBody the unchanged body of the request, which is compared with the body of the first call with the
 * key
 */
export async function createSandbox(
  context: Context,
  body: CreateSandboxBody,
  options: { readonly caller: Caller; readonly idempotencyKey: string | undefined; readonly sentBody: unknown },
): Promise<SandboxRecord> {
  const { caller, idempotencyKey, sentBody } = options;
  const { stores } = context;
  const call = { caller, idempotencyKey, fingerprint: bodyHash(sentBody) };
  const accepted = await acceptOnce(context, call, async (complete) => {
    requireEnvironmentOnKey(caller, environmentFromBody(context, caller, body)?.id ?? null);
    const { from, type = 'default', ttlSeconds = null } = body;
    requireStandingToCreate(context, caller.accountId, { type, ttlSeconds });
    refuseOverLimit(context, caller);
    if (from !== undefined) namedSnapshotFor(context, caller, from);
    await beginAcceptance(context);
    return context.database.transaction(() => {
      refuseOverLimit(context, caller);
      // The snapshot is looked up again: while the create was being accepted, its name may have moved or its data may
      // have been deleted.
      const restoreFrom = from === undefined ? null : namedSnapshotFor(context, caller, from).id;
      const sandbox = newSandbox(context, body, { caller, restoreFrom });
      stores.sandboxes.put(sandbox);
      complete(sandbox.id);
      scheduleBoot(context, sandbox);
      return sandbox;
    });
  });
  // The caller that repeats an idempotency key need not be the caller that first sent it.
  requireSandboxOnKey(caller, accepted);
  return accepted;
}
