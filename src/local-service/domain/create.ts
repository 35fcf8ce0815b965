/** Create, with its idempotency key (specification, "Idempotency results"; traps S4 and S5). */
import type { CreateSandboxBody } from '../../contract/requests.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { scheduleBoot } from './boot.js';
import type { Caller } from './caller.js';
import { bodyHash } from './canonical-json.js';
import { freshArchiveAfter } from './change-sandbox.js';
import type { Context } from './context.js';
import { newSandboxId, subdomainOf } from './ids.js';
import { refuseOverLimit } from './limits.js';
import { newMeter } from './machine-time.js';

/**
 * Creates a sandbox, or returns the one that the same key has created, gone or not.
 * @param sentBody the body as it came, for comparing it with the first one under the key
 */
export async function createSandbox(
  context: Context,
  body: CreateSandboxBody,
  options: { readonly caller: Caller; readonly idempotencyKey: string | undefined; readonly sentBody: unknown },
): Promise<SandboxRecord> {
  const { caller, idempotencyKey: key, sentBody } = options;
  if (key === undefined) return accept(context, caller, body, undefined);
  const earlier = claim(context, key, bodyHash(sentBody));
  return earlier ?? accept(context, caller, body, key);
}

/** Takes a key, or returns the sandbox that it stands for. */
function claim(context: Context, key: string, hash: string): SandboxRecord | undefined {
  const { stores, timings } = context;
  const known = stores.idempotency.get(key);
  const ageMs = known ? context.clock.now() - known.claimedAt : 0;
  const released =
    known && (known.sandboxId === null ? ageMs >= timings.idempotencyReleaseMs : ageMs >= timings.idempotencyKeyMs);
  if (!known || released) {
    stores.idempotency.claim(key, hash, context.clock.now());
    return undefined;
  }
  if (known.bodyHash !== hash) {
    throw new ServiceError(409, 'idempotency_key_reused', 'This idempotency key was used with another body.');
  }
  const sandbox = known.sandboxId === null ? undefined : stores.sandboxes.find(known.sandboxId);
  if (sandbox) return sandbox;
  const message = 'The first request with this idempotency key is still being worked on. Retry with the same key.';
  throw new ServiceError(409, 'idempotency_in_progress', message);
}

async function accept(
  context: Context,
  caller: Caller,
  body: CreateSandboxBody,
  key: string | undefined,
): Promise<SandboxRecord> {
  const { stores, timings, faults } = context;
  let restoreFrom: string | null;
  try {
    refuseOverLimit(context);
    restoreFrom = body.from === undefined ? null : sourceSnapshot(context, body.from);
  } catch (cause) {
    // Nothing has begun, so the key need not wait for its release.
    if (key !== undefined) stores.idempotency.release(key);
    throw cause;
  }
  if (timings.acceptMs > 0) await context.clock.delay(timings.acceptMs, context.closing);
  if (faults.take('create_fails')) throw new ServiceError(500, 'http_500', 'The sandbox could not be created.');
  return context.database.transaction(() => {
    const sandbox = newSandbox(context, caller, body, restoreFrom);
    stores.sandboxes.put(sandbox);
    if (key !== undefined) stores.idempotency.complete(key, sandbox.id);
    scheduleBoot(context, sandbox);
    return sandbox;
  });
}

function sourceSnapshot({ stores }: Context, name: string): string {
  const snapshot = stores.snapshots.byName(name);
  if (!snapshot) throw new ServiceError(404, 'not_found', `There is no snapshot named "${name}".`);
  if (snapshot.expired) {
    throw new ServiceError(409, 'snapshot_data_expired', `The data of the snapshot named "${name}" was deleted.`);
  }
  return snapshot.id;
}

function fateOfNext({ faults }: Context): SandboxRecord['fate'] {
  if (faults.take('create_cancelled')) return { end: 'cancelled' };
  const error = faults.take('boot_error');
  return error ? { end: 'error', recoverMs: error.recoverMs ?? null } : null;
}

function newSandbox(
  context: Context,
  caller: Caller,
  body: CreateSandboxBody,
  restoreFrom: string | null,
): SandboxRecord {
  let id = newSandboxId();
  while (context.stores.sandboxes.find(id)) id = newSandboxId();
  const now = context.clock.iso();
  const subdomain = subdomainOf(id);
  const ttlSeconds = body.ttlSeconds ?? null;
  return {
    id,
    ownerId: caller.accountId,
    name: context.profile.ignoreName ? subdomain : (body.name ?? subdomain),
    state: 'provisioning',
    error: null,
    type: body.type ?? 'default',
    ttlSeconds,
    archiveAfter: freshArchiveAfter(context.clock, ttlSeconds),
    snapshots: body.snapshots ?? true,
    monitoring: body.monitoring ?? true,
    environment: body.noEnv ? null : (body.environment ?? null),
    createdAt: now,
    updatedAt: now,
    dataExpiredAt: null,
    hydrated: restoreFrom === null,
    hydratedAt: null,
    hydrationStartedAt: null,
    snapshotId: null,
    pendingSnapshotId: null,
    snapshotCompletedAt: null,
    lastSnapshotAttemptAt: null,
    lastSnapshotStatus: null,
    nextSnapshotName: null,
    setupScript: body.setupScript ?? null,
    setupStatus: body.setupScript === undefined ? null : 'pending',
    setupError: null,
    subdomain,
    stop: null,
    restoreFrom,
    epoch: 1,
    meter: newMeter(new Date(now)),
    fate: fateOfNext(context),
    gone: null,
  };
}
