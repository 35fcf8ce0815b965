/** Who makes a call. */
import type { CredentialRecord, CredentialScope } from '../store/credential-store.js';

/** What a scoped key may do (specification, "Scope"). */
export type KeyScope = CredentialScope;

export interface Caller {
  readonly accountId: string;
  /** `sandbox`: the credential that was written into a sandbox. */
  readonly kind: CredentialRecord['kind'];
  /** Null for a session. */
  readonly keyId: string | null;
  /** Null if nothing limits it: sessions and keys of before scopes. */
  readonly scope: KeyScope | null;
}
