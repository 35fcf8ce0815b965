/** The accounts that a service begins with: those of its options, in the database from its first start on. */
import type { AccountRecord } from '../store/account-store.js';
import { addAccount, addOldKey, addTeam, type NewAccount, type NewTeam } from './accounts.js';
import type { Core } from './context.js';
import { hashOf } from './credentials.js';

/** The account of `options.apiKey`, and of everything that a service of before accounts has kept. */
const firstAccount = { id: 'acct_local', login: 'local' } as const;
const SEEDED_KEY = 'accounts.seededKey';

export interface SeedAccounts {
  /** The key of the first account. */
  readonly apiKey: string;
  readonly accounts: readonly NewAccount[];
  readonly teams: readonly NewTeam[];
}

/**
 * Makes what is not there: accounts by their login, organizations by their name. What is there stays as it is; a key that was
 * rotated or revoked does not come back at the next start. Safe to repeat.
 */
export function seedAccounts(context: Pick<Core, 'stores' | 'clock' | 'database'>, seed: SeedAccounts): void {
  const { accounts, settings } = context.stores;
  context.database.transaction(() => {
    const known: AccountRecord | undefined = accounts.accounts.get(firstAccount.id);
    const hash = hashOf(seed.apiKey);
    if (!known) addAccount(context, { login: firstAccount.login, apiKey: seed.apiKey }, firstAccount.id);
    else if (settings.get<string>(SEEDED_KEY) !== hash && !context.stores.credentials.byHash(hash)) {
      addOldKey(context, firstAccount.id, seed.apiKey);
    }
    settings.put(SEEDED_KEY, hash);
    for (const account of seed.accounts) if (!accounts.byLogin(account.login)) addAccount(context, account);
    for (const team of seed.teams) {
      if (!accounts.teams.all().some(({ name }) => name === team.name)) addTeam(context, team);
    }
  });
}
