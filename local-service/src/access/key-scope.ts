/**
 * Checks what a key may do, and to which resources (specification, "Scope"). Everything that is not allowed is denied.
 */
import type { ScopeAction } from '../../../src/contract/endpoints/endpoint.js';
import type { Core } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import type { CredentialRecord, CredentialScope } from '../store/credential-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

type Placed = Pick<SandboxRecord, 'id' | 'environmentId'>;

/** True for sessions, old keys and keys with the action or the wildcard. */
function allowsAction(scope: CredentialScope | null, action: ScopeAction): boolean {
  return scope === null || scope.actions.includes('*') || scope.actions.includes(action);
}

/**
 * @param others other actions, any of which is also enough
 * @throws ServiceError 403 `api_key_action_forbidden`
 */
export function requireAction(caller: Caller, action: ScopeAction, others: readonly ScopeAction[] = []): void {
  if ([action, ...others].some((enough) => allowsAction(caller.scope, enough))) return;
  const message = `The scope of this API key does not include the action ${action}.`;
  throw new ServiceError(403, 'api_key_action_forbidden', message, { details: { action } });
}

/** True if a key is limited neither to sandboxes nor to environments. */
export function isAccountWide(scope: CredentialScope | null): boolean {
  return scope === null || (scope.sandboxIds === null && scope.environmentIds === null);
}

/** True for sessions, old keys, and account-wide keys with every action. */
export function isUnrestricted(scope: CredentialScope | null): boolean {
  return scope === null || (isAccountWide(scope) && scope.actions.includes('*'));
}

/** True if a sandbox is in the key's sandbox set or in one of its environments. */
export function reachesSandbox(scope: CredentialScope | null, sandbox: Placed): boolean {
  if (scope === null || isAccountWide(scope)) return true;
  return scope.sandboxIds?.includes(sandbox.id) === true || reachesEnvironment(scope, sandbox.environmentId);
}

/** True if an environment is in the key's set; a key that is limited to sandboxes reaches no environment. */
export function reachesEnvironment(scope: CredentialScope | null, environmentId: string | null): boolean {
  if (scope === null || isAccountWide(scope)) return true;
  return environmentId !== null && scope.environmentIds?.includes(environmentId) === true;
}

function forbidden(what: string): ServiceError {
  return new ServiceError(403, 'api_key_sandbox_forbidden', `This API key has no access to ${what}.`);
}

/** @throws ServiceError 403 `api_key_sandbox_forbidden` */
export function requireSandboxOnKey({ scope }: Caller, sandbox: Placed): void {
  if (!reachesSandbox(scope, sandbox)) throw forbidden(`the sandbox ${sandbox.id}`);
}

/**
 * Checks an environment that is accessed or changed, or the environment of a new sandbox; null if the new sandbox has
 * none.
 * @param what names the environment in the refusal
 * @throws ServiceError 403 `api_key_sandbox_forbidden`
 */
export function requireEnvironmentOnKey(
  { scope }: Caller,
  environmentId: string | null,
  what = environmentId === null ? 'sandboxes outside its environments' : 'this environment',
): void {
  if (!reachesEnvironment(scope, environmentId)) throw forbidden(what);
}

/**
 * Checks access to what belongs to the account as a whole (specification, "Authentication": account-wide reads need an
 * account key).
 * @param what names it in the refusal
 * @throws ServiceError 403 `api_key_sandbox_forbidden`
 */
export function requireAccountWide({ scope }: Caller, what = 'the account'): void {
  if (!isAccountWide(scope)) throw forbidden(`${what}, because it is limited to sandboxes or environments`);
}

/** The caller of a credential; undefined if it was revoked, has expired, or belongs to a sandbox that is gone. */
export function callerOf(
  { stores, clock }: Pick<Core, 'stores' | 'clock'>,
  { id, accountId, kind, scope, revokedAt, expiresAt }: CredentialRecord,
): Caller | undefined {
  if (revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= clock.now())) return undefined;
  // The credential that was written into a sandbox ends with the sandbox.
  if (kind === 'sandbox' && !stores.sandboxes.get(scope?.sandboxIds?.[0] ?? '')) return undefined;
  return { accountId, kind, keyId: kind === 'session' ? null : id, credentialId: id, scope };
}

export interface Caller {
  readonly accountId: string;
  /** `sandbox`: the credential that was written into a sandbox. */
  readonly kind: CredentialRecord['kind'];
  /** Null for a session. */
  readonly keyId: string | null;
  /** The key or session; null if the service itself acts. */
  readonly credentialId: string | null;
  /** Null for sessions and unscoped keys, which nothing limits. */
  readonly scope: CredentialScope | null;
}
