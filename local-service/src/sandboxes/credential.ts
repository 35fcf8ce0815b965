/**
 * The credential written into a sandbox (specification, "Scope"): limited to that sandbox and to a few actions. A
 * sandbox has one credential at a time. Its secret is in memory only, so the first process after a restart of the
 * service gets a new secret.
 */
import { sandboxCredentialActions } from '../../../src/contract/endpoints/endpoint.js';
import { hashOf, issue, reissue } from '../accounts/credentials.js';
import type { Clock } from '../clock.js';
import { assume } from '../core/assume.js';
import type { SandboxCredentials } from '../core/context.js';
import type { Database } from '../store/database.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Stores } from '../store/stores.js';

/** @param options.apiUrl base URL with the version; undefined while the service does not listen */
export function createSandboxCredentials(options: {
  readonly database: Database;
  readonly stores: Stores;
  readonly clock: Clock;
  readonly apiUrl: () => string | undefined;
}): SandboxCredentials {
  const { database, stores, apiUrl } = options;
  const secrets = new Map<string, string>();

  function secretFor({ id, ownerId }: SandboxRecord): string {
    const current = stores.credentials.ofSandbox(id);
    const known = secrets.get(id);
    if (current && known !== undefined && hashOf(known) === current.hash) return known;
    const { secret } = database.transaction(() =>
      current
        ? reissue(options, current)
        : issue(options, {
            accountId: ownerId,
            kind: 'sandbox',
            name: id,
            scope: { actions: sandboxCredentialActions, sandboxIds: [id], environmentIds: null },
            preset: null,
            expiresAt: null,
          }),
    );
    secrets.set(id, secret);
    return secret;
  }

  return {
    variablesFor(sandbox) {
      assume('A-sandbox-variables');
      const url = apiUrl();
      return { SANDBOX_API_KEY: secretFor(sandbox), ...(url === undefined ? {} : { SANDBOX_API_URL: url }) };
    },
    revoke(sandboxId) {
      const current = stores.credentials.ofSandbox(sandboxId);
      secrets.delete(sandboxId);
      if (current) stores.credentials.remove(current.id);
    },
  };
}
