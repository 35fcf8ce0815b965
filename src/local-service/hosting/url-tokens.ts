/**
 * The `_token` of a hosted URL (specification, "Versioning"). It stands for the key of the caller who got the URL, for
 * one sandbox and one action. So it ends with that key, with its right to the action, and with the caller's access to
 * the sandbox. Nothing is stored for it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Caller, callerOf, requireAction } from '../access/key-scope.js';
import { requireAccess } from '../access/sandbox-access.js';
import type { Core } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import type { CredentialRecord } from '../store/credential-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

export type HostedAction = 'host' | 'desktop';
type Known = Pick<Core, 'stores' | 'clock'>;

/** The hash of the secret of a credential is as secret as a key needs to be, and changes when the secret does. */
function tokenOf({ id, hash }: CredentialRecord, sandboxId: string, action: HostedAction): string {
  return `${id}.${createHmac('sha256', hash).update(`${action} ${sandboxId}`).digest('base64url')}`;
}

/** A token for the caller. Undefined if the caller may not do this. */
export function urlToken(
  context: Known,
  caller: Caller,
  { sandbox, action }: { readonly sandbox: SandboxRecord; readonly action: HostedAction },
): string | undefined {
  const credential = context.stores.credentials.get(caller.credentialId ?? '');
  return credential && mayDo(context, caller, { sandbox, action })
    ? tokenOf(credential, sandbox.id, action)
    : undefined;
}

/** The first of the tokens that is good for this now. */
export function goodToken(
  context: Known,
  tokens: readonly string[],
  { sandbox, action }: { readonly sandbox: SandboxRecord; readonly action: HostedAction },
): string | undefined {
  return tokens.find((token) => {
    const credential = context.stores.credentials.get(token.split('.')[0] ?? '');
    if (!credential || !isSame(token, tokenOf(credential, sandbox.id, action))) return false;
    const caller = callerOf(context, credential);
    return caller !== undefined && mayDo(context, caller, { sandbox, action });
  });
}

function mayDo(
  context: Known,
  caller: Caller,
  { sandbox, action }: { readonly sandbox: SandboxRecord; readonly action: HostedAction },
): boolean {
  try {
    requireAction(caller, action);
    requireAccess(context, caller, sandbox, 'use');
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
