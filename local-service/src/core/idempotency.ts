/**
 * Idempotency keys. The creates and forks of an account share them (specification, "Idempotency results"; traps S4 and
 * S5).
 */

import { createHash } from 'node:crypto';
import { stableJson } from '../../../src/texts/stable-json.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { assume } from './assume.js';
import type { Context } from './context.js';

export interface KeyedCall {
  readonly caller: { readonly accountId: string };
  readonly idempotencyKey: string | undefined;
  /** Equal for repetitions of the call, and different for every other call. */
  readonly fingerprint: string;
}

/** Equal for bodies with the same meaning (assumption, "Idempotency-Key with the same body"). */
export function bodyHash(body: unknown): string {
  return createHash('sha256').update(stableJson(body)).digest('hex');
}

/** Keys whose first call is still running. They stay in use even if the copy of a fork takes long. */
const activeKeys = new WeakMap<Context, Set<string>>();

/**
 * Accepts a create or fork. If an earlier call used the same key, returns its sandbox, even if that no longer exists.
 * @param accept carries out the call, and calls `complete` in the transaction that creates the sandbox
 * @throws ServiceError `idempotency_key_reused` if a different call used the key, `idempotency_in_progress` while the
 *   first call with the key is under way
 */
export async function acceptOnce(
  context: Context,
  { caller, idempotencyKey, fingerprint }: KeyedCall,
  accept: (complete: (sandboxId: string) => void) => Promise<SandboxRecord>,
): Promise<SandboxRecord> {
  if (idempotencyKey === undefined) return accept(() => undefined);
  const { idempotency } = context.stores;
  const key = `${caller.accountId} ${idempotencyKey}`;
  const busy = activeKeys.get(context) ?? new Set<string>();
  activeKeys.set(context, busy);
  const earlier = claim(context, { key, fingerprint, busy });
  if (earlier) return earlier;
  busy.add(key);
  try {
    return await accept((sandboxId) => idempotency.complete(key, sandboxId));
  } catch (cause) {
    // A refused call has created nothing, so its key is released at once.
    if (cause instanceof ServiceError && cause.status < 500) idempotency.release(key);
    throw cause;
  } finally {
    busy.delete(key);
  }
}

/** Claims a key, or returns the sandbox of an earlier call with the key. */
function claim(
  { stores, timings, clock, deviations }: Context,
  options: { readonly key: string; readonly fingerprint: string; readonly busy: ReadonlySet<string> },
): SandboxRecord | undefined {
  const { key, fingerprint, busy } = options;
  const known = stores.idempotency.get(key);
  const ageMs = known ? clock.now() - known.claimedAt : 0;
  const released =
    known &&
    !busy.has(key) &&
    (known.sandboxId === null ? ageMs >= timings.idempotencyReleaseMs : ageMs >= timings.idempotencyKeyMs);
  const sandbox = known?.sandboxId ? stores.sandboxes.find(known.sandboxId) : undefined;
  const ended = sandbox?.state === 'cancelled' ? 'A-cancelled-key' : sandbox?.gone ? 'A-deleted-key' : undefined;
  if (!known || released || (ended && deviations.has(ended))) {
    stores.idempotency.claim(key, fingerprint, clock.now());
    return undefined;
  }
  if (assume('A-idempotency-body') && known.bodyHash !== fingerprint) {
    throw new ServiceError(
      409,
      'idempotency_key_reused',
      'This idempotency key was already used for a different request. Use a new key.',
    );
  }
  if (sandbox?.state === 'cancelled') assume('A-cancelled-key');
  if (sandbox) return sandbox;
  const message = 'The first request with this idempotency key is still in progress. Retry with the same key.';
  throw new ServiceError(409, 'idempotency_in_progress', message);
}
