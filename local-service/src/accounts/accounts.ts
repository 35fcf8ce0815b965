/** Creates and changes accounts, organizations and sessions. The API cannot; the service object can. */

import type { Context } from '../core/context.js';
import type { AccountRecord, TeamRecord } from '../store/account-store.js';
import { setScopedCreation } from './api-keys.js';
import {
  type AccountFlags,
  addAccount,
  addSession,
  addTeam,
  changeAccount,
  changeTeam,
  type NewAccount,
  type NewTeam,
  type TeamFlags,
} from './records.js';

/** Accounts, organizations and sessions of a local service. */
export interface Accounts {
  /** All accounts, oldest first; the first is `acct_local`. */
  list(): readonly AccountRecord[];
  /**
   * Creates an account. Not safe to repeat.
   * @returns the account, and the secret of its key; the key is account-wide and does not expire
   * @throws ServiceError 409 `login_taken`
   */
  create(account: NewAccount): { readonly account: AccountRecord; readonly apiKey: string };
  /** Changes the flags that are given. Safe to repeat. @throws ServiceError 404 */
  update(accountId: string, flags: AccountFlags): AccountRecord;
  /** Creates the token of a browser or command-line session. The token is a secret. @throws ServiceError 404 */
  createSession(accountId: string): string;
  /** Creates an organization of existing accounts. Not safe to repeat. @throws ServiceError 404 */
  createTeam(team: NewTeam): TeamRecord;
  /** Changes the flags that are given. Safe to repeat. @throws ServiceError 404 */
  updateTeam(teamId: string, flags: TeamFlags): TeamRecord;
  /** With `false`, POST /api-keys/scoped answers 503. Safe to repeat. */
  setScopedKeyCreation(enabled: boolean): void;
}

export function createAccounts(context: Context): Accounts {
  return {
    list: () => context.stores.accounts.accounts.all(),
    create: (account) => addAccount(context, account),
    update: (accountId, flags) => changeAccount(context, accountId, flags),
    createSession: (accountId) => addSession(context, accountId),
    createTeam: (team) => addTeam(context, team),
    updateTeam: (teamId, flags) => changeTeam(context, teamId, flags),
    setScopedKeyCreation: (enabled) => setScopedCreation(context, enabled),
  };
}
