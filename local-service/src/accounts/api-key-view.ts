/** API keys as the service shows them (specification, "API key"; the names of most fields are an assumption). */
import { scopeActions } from '../../../src/contract/endpoints/endpoint.js';
import { keyPresetActions } from '../../../src/contract/records/key-presets.js';
import type { Context } from '../core/context.js';
import type { CredentialRecord } from '../store/credential-store.js';
import { scopedCreationEnabled } from './api-keys.js';

export interface Resources {
  readonly total: number;
  readonly sandboxes: number;
  readonly agents: number;
}

/** The number of requests with a key in the last 30 days. */
export function usageOf({ stores }: Context, keyId: string): { readonly requests: number } {
  return { requests: stores.keyUsage.requests(keyId) };
}

/**
 * Counts the resources that a key has created and that still exist. Assumption: an agent is a conversation that was
 * begun by a prompt with the key, in a sandbox that still exists.
 */
export function resourcesOf({ stores }: Context, keyId: string): Resources {
  let sandboxes = 0;
  for (const { createdByKeyId } of stores.sandboxes.living()) if (createdByKeyId === keyId) sandboxes++;
  const agents = stores.keyUsage.agentSandboxes(keyId).filter((id) => stores.sandboxes.get(id)).length;
  return { total: sandboxes + agents, sandboxes, agents };
}

/** Shows an API key, and never its secret. `scope` is null for an unscoped key. */
export function apiKeyView(context: Context, key: CredentialRecord): Readonly<Record<string, unknown>> {
  const { id, name, prefix, lastFour, scope, preset, createdAt, expiresAt, revokedAt } = key;
  const lastUsedAt = context.stores.keyUsage.lastUsedAt(id);
  const [onlySandbox, ...more] = scope?.sandboxIds ?? [];
  return {
    id,
    name,
    prefix,
    lastFour,
    scope: scope && {
      preset,
      actions: scope.actions,
      sandboxes: scope.sandboxIds,
      environments: scope.environmentIds,
    },
    // Specification, "Versioning": keys have a field of this name.
    sandboxId: more.length === 0 && scope?.environmentIds == null ? (onlySandbox ?? null) : null,
    createdAt,
    expiresAt,
    lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
    revokedAt,
    usage: usageOf(context, id),
    resources: resourcesOf(context, id),
  };
}

/** The actions and presets that a new key can have. */
export function catalogOf(context: Context): Readonly<Record<string, unknown>> {
  return {
    scopedCreationEnabled: scopedCreationEnabled(context),
    actions: [...scopeActions, '*'],
    presets: keyPresetActions,
  };
}
