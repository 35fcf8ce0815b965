/**
 * Creates scoped API keys, and rotates and revokes API keys (specification, "API key endpoints" and "Key lifecycle").
 */

import { keyPresetActions } from '../../../src/contract/records/key-presets.js';
import type { CreateApiKeyBody } from '../../../src/contract/requests/account-requests.js';
import { type Caller, isUnrestricted } from '../access/key-scope.js';
import { sandboxFor } from '../access/sandbox-access.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { environmentsFor } from '../environments/environments.js';
import { invalidRequest, notFound, ServiceError } from '../service-error.js';
import type { CredentialRecord, CredentialScope } from '../store/credential-store.js';
import { type Issued, issue, reissue } from './credentials.js';

const dayMs = 24 * 3_600_000;
/** Specification, "Limits". */
const defaultTtlMs = 90 * dayMs;
const creationDisabled = 'apiKeys.scopedCreationDisabled';

export function scopedCreationEnabled({ stores }: Pick<Context, 'stores'>): boolean {
  return stores.settings.get<boolean>(creationDisabled) !== true;
}

/** Switches the creation of scoped keys on and off for every account. Safe to repeat. */
export function setScopedCreation({ stores }: Pick<Context, 'stores'>, enabled: boolean): void {
  stores.settings.put(creationDisabled, !enabled);
}

/**
 * Creates a scoped key. Not safe to repeat: each call creates another key.
 * @throws ServiceError 403 `forbidden` for a caller that is neither a session nor admin-scoped; 503
 *   `scoped_key_creation_disabled` (the code is an assumption); 400 for preset and actions together; 404 for a sandbox
 *   or environment that the account does not have
 */
export function createScopedKey(context: Context, caller: Caller, body: CreateApiKeyBody): Issued {
  // Assumption: an unscoped key has every right, and so counts as admin-scoped.
  if (caller.kind !== 'session' && !isUnrestricted(caller.scope)) {
    throw new ServiceError(
      403,
      'forbidden',
      'Creating API keys requires a session, or an admin-scoped key without limits on sandboxes and environments.',
    );
  }
  if (caller.kind !== 'session' && caller.scope === null) assume('A-key-creation');
  if (!scopedCreationEnabled(context)) {
    assume('A-key-creation');
    const message = 'The creation of scoped keys is currently disabled. Try again later.';
    throw new ServiceError(503, 'scoped_key_creation_disabled', message);
  }
  const { name, preset, actions, ttlSeconds } = body;
  if (preset !== undefined && actions !== undefined) {
    throw invalidRequest('Specify either preset or actions, not both.');
  }
  const usedPreset = actions === undefined ? (preset ?? 'admin') : null;
  const scope: CredentialScope = {
    actions: usedPreset === null ? [...new Set(actions)] : keyPresetActions[usedPreset],
    sandboxIds: body.sandboxes ? requireSandboxes(context, caller, body.sandboxes) : null,
    environmentIds: body.environments ? requireEnvironments(context, caller, body.environments) : null,
  };
  if (usedPreset !== null && usedPreset !== 'admin') assume('A-key-presets');
  const ttlMs = ttlSeconds === undefined ? defaultTtlMs : ttlSeconds * 1000;
  const expiresAt = new Date(context.clock.now() + ttlMs).toISOString();
  return context.database.transaction(() =>
    issue(context, { accountId: caller.accountId, kind: 'api_key', name, scope, preset: usedPreset, expiresAt }),
  );
}

function requireSandboxes(context: Context, caller: Caller, sandboxIds: readonly string[]): readonly string[] {
  for (const sandboxId of sandboxIds) sandboxFor(context, caller, sandboxId, 'view');
  return [...new Set(sandboxIds)];
}

/** Assumption: the caller names an environment by its id or by its name. */
function requireEnvironments(context: Context, caller: Caller, wanted: readonly string[]): readonly string[] {
  const environments = environmentsFor(context, caller);
  const ids = wanted.map((idOrName) => {
    const found = environments.find(({ id, name }) => id === idOrName || name === idOrName);
    if (found) return found.id;
    throw notFound(`The environment ${idOrName} does not exist.`);
  });
  return [...new Set(ids)];
}

/**
 * A key of the caller's account, revoked or not.
 * @throws ServiceError 404 if the account has no such key; a restricted key gets 404 for every key but itself
 */
export function keyFor(context: Context, caller: Caller, keyId: string): CredentialRecord {
  const key = context.stores.credentials.get(keyId);
  const seen = key?.accountId === caller.accountId && (isUnrestricted(caller.scope) || key.id === caller.keyId);
  if (key?.kind === 'api_key' && seen) return key;
  throw notFound(`The API key ${keyId} does not exist.`);
}

/** @throws ServiceError 404 also for a revoked key */
function livingKey(context: Context, caller: Caller, keyId: string): CredentialRecord {
  const key = keyFor(context, caller, keyId);
  if (key.revokedAt === null) return key;
  throw notFound(`The API key ${keyId} was revoked.`);
}

/**
 * Replaces the secret of a key at once. Id, scope and expiry stay; an unscoped key stays unscoped. Not safe to repeat:
 * each call gives another secret.
 * @throws ServiceError 404; 409 `api_key_expired`
 */
export function rotateKey(context: Context, caller: Caller, keyId: string): Issued {
  const key = livingKey(context, caller, keyId);
  if (key.expiresAt !== null && Date.parse(key.expiresAt) <= context.clock.now()) {
    const message = `This API key expired on ${key.expiresAt} and cannot be rotated. Create a new one.`;
    throw new ServiceError(409, 'api_key_expired', message);
  }
  return context.database.transaction(() => reissue(context, key));
}

/**
 * Disables a key at once. The resources that it created stay, and so does its usage. Safe to repeat: a second call
 * throws 404.
 */
export function revokeKey(context: Context, caller: Caller, keyId: string): CredentialRecord {
  const revoked = { ...livingKey(context, caller, keyId), revokedAt: context.clock.iso() };
  context.stores.credentials.put(revoked);
  return revoked;
}
