/** Who makes a call. */
import type { ScopeAction } from '../../contract/endpoint.js';

/** What a scoped key may do (specification, "Scope"). */
export interface KeyScope {
  readonly actions: readonly (ScopeAction | '*')[];
  /** Null where the key is not limited to sandboxes or environments. */
  readonly sandboxIds: readonly string[] | null;
  readonly environmentIds: readonly string[] | null;
}

export interface Caller {
  readonly accountId: string;
  /** `sandbox`: the credential that was written into a sandbox. */
  readonly kind: 'session' | 'api_key' | 'sandbox';
  /** Null for a session. */
  readonly keyId: string | null;
  /** Null where nothing limits it: sessions and keys of before scopes. */
  readonly scope: KeyScope | null;
}
