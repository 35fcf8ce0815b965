/** Secrets of API keys, sessions and sandboxes: created here, shown once, stored as a hash. */
import { createHash, randomBytes } from 'node:crypto';
import type { Core } from '../core/context.js';
import type { CredentialRecord } from '../store/credential-store.js';

/** Assumption: the specification does not show the service's token prefixes, so these are our own. */
const prefixes: Readonly<Record<CredentialRecord['kind'], string>> = {
  api_key: 'svc_key_',
  session: 'svc_session_',
  sandbox: 'svc_sandbox_',
};
const shownOfSecret = 4;
/** No part of a shorter key is shown, because four characters would be a large part of it. */
const minShownLength = 16;

type Keeping = Pick<Core, 'stores' | 'clock'>;
type Wanted = Pick<CredentialRecord, 'accountId' | 'kind' | 'name' | 'scope' | 'preset' | 'expiresAt'>;

export interface Issued {
  readonly credential: CredentialRecord;
  /** Shown once and stored nowhere. */
  readonly secret: string;
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The hash, the prefix and the last characters of a secret. Nothing else of it may be shown or stored. */
function tracesOf(secret: string): Pick<CredentialRecord, 'hash' | 'prefix' | 'lastFour'> {
  const known = Object.values(prefixes).find((prefix) => secret.startsWith(prefix));
  const lastFour = secret.length < minShownLength ? '' : secret.slice(-shownOfSecret);
  return { hash: hashOf(secret), prefix: known ?? '', lastFour };
}

function newSecret(kind: CredentialRecord['kind']): string {
  return `${prefixes[kind]}${randomBytes(32).toString('base64url')}`;
}

/** Creates a credential within the current transaction. Not safe to repeat: each call creates another. */
export function issue({ stores, clock }: Keeping, wanted: Wanted, secret = newSecret(wanted.kind)): Issued {
  const id = `${wanted.kind === 'session' ? 'ses' : 'sak'}_${randomBytes(12).toString('hex')}`;
  const credential = { ...wanted, ...tracesOf(secret), id, createdAt: clock.iso(), revokedAt: null };
  stores.credentials.put(credential);
  return { credential, secret };
}

/** Replaces only the secret of a credential. The old secret is no longer accepted. */
export function reissue({ stores }: Pick<Keeping, 'stores'>, credential: CredentialRecord): Issued {
  const secret = newSecret(credential.kind);
  const changed = { ...credential, ...tracesOf(secret) };
  stores.credentials.put(changed);
  return { credential: changed, secret };
}
