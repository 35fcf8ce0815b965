/**
 * Accounts and organizations. All of them are also in memory, because every request reads them. A rollback restores the
 * memory, too.
 */
import type { Database } from './database.js';

/** An account of a local service. */
export interface AccountRecord {
  /** `acct_…`. */
  readonly id: string;
  /** Unique among accounts. */
  readonly login: string;
  readonly email: string;
  /** The organization that it belongs to; an account belongs to one at most. */
  readonly teamId: string | null;
  /** ISO 8601 time. */
  readonly createdAt: string;
  /** When zero data retention was enabled; null if it is off. */
  readonly zeroDataRetentionEnabledAt: string | null;
  /** False: calls that start a machine answer `account_not_ready`. */
  readonly ready: boolean;
  /** True: auto-stop is required, and only the sizes `small` and `default` are allowed. */
  readonly trial: boolean;
  /** True: calls that start a machine answer `billing_required`. */
  readonly billingRequired: boolean;
  /** Monthly cap on machine time in the organization, in billable seconds; null if there is no cap. */
  readonly memberCapSeconds: number | null;
}

/** An organization of a local service. */
export interface TeamRecord {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** ISO 8601 time. */
  readonly createdAt: string;
  /** True: sandboxes of its members begin as private. */
  readonly newSandboxesPrivate: boolean;
  /** True: calls that start a machine answer `org_suspended`. */
  readonly suspended: boolean;
}

export function createAccountStore(database: Database) {
  const accounts = createRecordStore<AccountRecord>(database, 'accounts');
  const teams = createRecordStore<TeamRecord>(database, 'teams');
  return {
    accounts,
    teams,
    byLogin: (login: string) => accounts.all().find((account) => account.login === login),
    teamOf(accountId: string) {
      const teamId = accounts.get(accountId)?.teamId ?? null;
      return teamId === null ? undefined : teams.get(teamId);
    },
    load() {
      accounts.load();
      teams.load();
    },
  };
}

function createRecordStore<Entry extends { readonly id: string }>(database: Database, table: 'accounts' | 'teams') {
  const records = new Map<string, Entry>();
  const put = database.prepare(
    `INSERT INTO ${table} (id, document) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET document = excluded.document`,
  );
  const load = database.prepare<{ document: string }>(`SELECT document FROM ${table} ORDER BY seq`);

  function remember(record: Entry | undefined, id: string): void {
    if (record) records.set(id, record);
    else records.delete(id);
  }

  return {
    get: (id: string) => records.get(id),
    /** Oldest first. */
    all: () => [...records.values()],
    put(record: Entry) {
      put.run(record.id, JSON.stringify(record));
      const before = records.get(record.id);
      remember(record, record.id);
      database.onRollback(() => remember(before, record.id));
    },
    load() {
      records.clear();
      for (const row of load.all()) {
        const record = JSON.parse(row.document) as Entry;
        records.set(record.id, record);
      }
    },
  };
}
