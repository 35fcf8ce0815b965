/**
 * What a caller opens, and what stays open, ends with the key of that caller. A token stands for this key, for one sandbox
 * and one action: that of a hosted URL (specification, "Versioning"), and that of an SSH key. It ends with the key, with
 * its right to the action, and with the caller's access to the sandbox. A download and a public desktop ask for the same.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ScopeAction } from '../../../src/contract/endpoints/endpoint.js';
import type { Core } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import type { CredentialRecord } from '../store/credential-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { type Caller, callerOf, requireAction } from './key-scope.js';
import { requireAccess } from './sandbox-access.js';

type Known = Pick<Core, 'stores' | 'clock'>;

/** What a token is good for. */
interface Grant {
  readonly sandbox: SandboxRecord;
  readonly action: ScopeAction;
}

/** The hash of the secret of a credential is as secret as a key needs to be, and changes when the secret does. */
function tokenOf({ id, hash }: CredentialRecord, sandboxId: string, action: ScopeAction): string {
  return `${id}.${createHmac('sha256', hash).update(`${action} ${sandboxId}`).digest('base64url')}`;
}

/** Whether a token stands for this key or session. */
export const isTokenOf = (token: string, credentialId: string | null): boolean => token.split('.')[0] === credentialId;

/** A token for the caller. Undefined if the caller may not do this. */
export function accessToken(context: Known, caller: Caller, { sandbox, action }: Grant): string | undefined {
  const credential = context.stores.credentials.get(caller.credentialId ?? '');
  return credential && mayDo(context, caller, { sandbox, action })
    ? tokenOf(credential, sandbox.id, action)
    : undefined;
}

/** The first of the tokens that is good for this now. */
export function goodToken(context: Known, tokens: readonly string[], { sandbox, action }: Grant): string | undefined {
  return tokens.find((token) => {
    const credential = context.stores.credentials.get(token.split('.')[0] ?? '');
    if (!credential || !isSame(token, tokenOf(credential, sandbox.id, action))) return false;
    const caller = callerOf(context, credential);
    return caller !== undefined && mayDo(context, caller, { sandbox, action });
  });
}

/** How often the right to what is open is checked again, in ms. */
export const recheckMs = 1_000;

/**
 * Whether what a caller opens may stay open, to be asked again and again.
 * @param check throws a ServiceError for a caller that may not open it
 */
export function mayLast(context: Known, { credentialId }: Caller, check: (caller: Caller) => unknown): () => boolean {
  const { credentials } = context.stores;
  const find = () => credentials.get(credentialId ?? '');
  const hash = find()?.hash;
  return () => {
    const credential = find();
    const now = credential?.hash === hash ? credential && callerOf(context, credential) : undefined;
    return now !== undefined && isAllowed(() => check(now));
  };
}

/** Ends a stream to a caller who may no longer read it. */
export function endWhenForbidden(stream: Readable, mayRead: () => boolean): void {
  const checking = setInterval(() => {
    if (!mayRead()) stream.destroy(new Error('Its caller may no longer read it'));
  }, recheckMs).unref();
  stream.once('close', () => clearInterval(checking));
}

function mayDo(context: Known, caller: Caller, { sandbox, action }: Grant): boolean {
  return isAllowed(() => {
    requireAction(caller, action);
    requireAccess(context, caller, sandbox, 'use');
  });
}

function isAllowed(check: () => unknown): boolean {
  try {
    check();
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
