/** Create (specification, POST /sandboxes). */
import type { CreateSandboxBody } from '../../contract/requests.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { scheduleBoot } from './boot.js';
import type { Caller } from './caller.js';
import { bodyHash } from './canonical-json.js';
import type { Context } from './context.js';
import { environmentFromBody } from './environment-pin.js';
import { acceptOnce } from './idempotency.js';
import { requireEnvironmentOnKey, requireSandboxOnKey } from './key-scope.js';
import { refuseOverLimit } from './limits.js';
import { beginAcceptance, newSandbox } from './new-sandbox.js';
import { namedSnapshotFor } from './snapshots.js';
import { requireStandingToCreate } from './standing.js';

/**
 * Creates a sandbox, or returns the one that the same key has created, gone or not.
 * @param options.sentBody the body as it came, for comparing it with the first one under the key
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
      // Looked up anew: its name may have moved, or its data gone, while the create was being accepted.
      const restoreFrom = from === undefined ? null : namedSnapshotFor(context, caller, from).id;
      const sandbox = newSandbox(context, body, { caller, restoreFrom });
      stores.sandboxes.put(sandbox);
      complete(sandbox.id);
      scheduleBoot(context, sandbox);
      return sandbox;
    });
  });
  // Who repeats a key need not be who sent it first.
  requireSandboxOnKey(caller, accepted);
  return accepted;
}
