/** Writes the accounts of the options to the database, unless they are there already. */

import type { Core } from '../core/context.js';
import { firstAccountId } from '../core/ids.js';
import type { AccountRecord } from '../store/account-store.js';
import { hashOf } from './credentials.js';
import { addAccount, addOldKey, addTeam, type NewAccount, type NewTeam } from './records.js';

/** The account that `options.apiKey` belongs to. It also owns everything that was stored before accounts existed. */
const firstAccount = { id: firstAccountId, login: 'local' } as const;
const seededKey = 'accounts.seededKey';

export interface SeedAccounts {
  /** The key of the first account. */
  readonly apiKey: string;
  readonly accounts: readonly NewAccount[];
  readonly teams: readonly NewTeam[];
}

/**
 * Creates the accounts whose login is missing, and the organizations whose name is missing. Existing ones are not
 * changed, and a rotated or revoked key stays invalid. If the service starts with another key, the former key is
 * revoked, since it may be compromised. A later start with the former key restores it. Safe to repeat.
 */
export function seedAccounts(context: Pick<Core, 'stores' | 'clock' | 'database'>, seed: SeedAccounts): void {
  const { accounts, settings, credentials } = context.stores;
  context.database.transaction(() => {
    const known: AccountRecord | undefined = accounts.accounts.get(firstAccount.id);
    const hash = hashOf(seed.apiKey);
    const former = settings.get<string>(seededKey);
    if (!known) addAccount(context, { login: firstAccount.login, apiKey: seed.apiKey }, firstAccount.id);
    else if (former !== hash) {
      const taken = credentials.byHash(hash);
      if (!taken) addOldKey(context, firstAccount.id, seed.apiKey);
      else if (taken.accountId === firstAccount.id) credentials.put({ ...taken, revokedAt: null });
      const replaced = former === undefined ? undefined : credentials.byHash(former);
      if (replaced) credentials.put({ ...replaced, revokedAt: replaced.revokedAt ?? context.clock.iso() });
    }
    settings.put(seededKey, hash);
    for (const account of seed.accounts) if (!accounts.byLogin(account.login)) addAccount(context, account);
    for (const team of seed.teams) {
      if (!accounts.teams.all().some(({ name }) => name === team.name)) addTeam(context, team);
    }
  });
}
