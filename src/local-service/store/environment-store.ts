/** Environments and their versions. A version is written once and never changed. */
import type { Database } from './database.js';
import type { EnvironmentContent, EnvironmentRecord, EnvironmentVersion } from './environment-record.js';

interface EnvironmentRow extends Omit<EnvironmentRecord, 'isDefault'> {
  readonly isDefault: number;
}

/** A version without what it says. */
export type VersionEntry = Omit<EnvironmentVersion, 'content'>;

export interface EnvironmentStore {
  /** Not a deleted one. */
  get(environmentId: string): EnvironmentRecord | undefined;
  byName(accountId: string, name: string): EnvironmentRecord | undefined;
  defaultOf(accountId: string): EnvironmentRecord | undefined;
  /** Those of an account that are not deleted, oldest first. */
  of(accountId: string): EnvironmentRecord[];
  add(environment: EnvironmentRecord): void;
  rename(environmentId: string, name: string): void;
  /** Makes it the default of its account, in place of the one before. */
  makeDefault(environment: EnvironmentRecord): void;
  /** It is found no more; its versions stay for the sandboxes that are pinned to them. */
  remove(environmentId: string): void;
  version(versionId: string): EnvironmentVersion | undefined;
  latest(environmentId: string): EnvironmentVersion | undefined;
  /** Oldest first. */
  versions(environmentId: string): VersionEntry[];
  /** The account that an environment belongs to, deleted or not. */
  accountOf(environmentId: string): string | undefined;
  /** Writes a version down; it is the latest from now on. */
  addVersion(version: EnvironmentVersion): void;
}

export function createEnvironmentStore(database: Database): EnvironmentStore {
  const columns = 'id, accountId, name, isDefault, createdAt';
  const select = (where: string) =>
    database.prepare<EnvironmentRow>(`SELECT ${columns} FROM environments WHERE deleted = 0 AND ${where} ORDER BY seq`);
  const [byId, byName, byDefault, byAccount] = [
    select('id = ?'),
    select('accountId = ? AND name = ?'),
    select('accountId = ? AND isDefault = 1'),
    select('accountId = ?'),
  ];
  const accountOf = database.prepare<{ accountId: string }>('SELECT accountId FROM environments WHERE id = ?');
  const add = database.prepare(`INSERT INTO environments (${columns}) VALUES (?, ?, ?, ?, ?)`);
  const rename = database.prepare('UPDATE environments SET name = ? WHERE id = ?');
  const clearDefault = database.prepare('UPDATE environments SET isDefault = 0 WHERE accountId = ?');
  const setDefault = database.prepare('UPDATE environments SET isDefault = 1 WHERE id = ?');
  const remove = database.prepare('UPDATE environments SET deleted = 1 WHERE id = ?');
  type VersionRow = VersionEntry & { readonly content: string };
  const entry = 'id, environmentId, versionNumber, createdAt';
  const version = database.prepare<VersionRow>(`SELECT ${entry}, content FROM environment_versions WHERE id = ?`);
  const latest = database.prepare<VersionRow>(
    `SELECT ${entry}, content FROM environment_versions WHERE environmentId = ? ORDER BY versionNumber DESC LIMIT 1`,
  );
  const versions = database.prepare<VersionEntry>(
    `SELECT ${entry} FROM environment_versions WHERE environmentId = ? ORDER BY versionNumber`,
  );
  const addVersion = database.prepare(`INSERT INTO environment_versions (${entry}, content) VALUES (?, ?, ?, ?, ?)`);

  const record = (row: EnvironmentRow | undefined): EnvironmentRecord | undefined =>
    row && { ...row, isDefault: row.isDefault === 1 };
  const whole = (row: VersionRow | undefined): EnvironmentVersion | undefined =>
    row && { ...row, content: JSON.parse(row.content) as EnvironmentContent };

  return {
    get: (environmentId) => record(byId.get(environmentId)),
    byName: (accountId, name) => record(byName.get(accountId, name)),
    defaultOf: (accountId) => record(byDefault.get(accountId)),
    of: (accountId) => byAccount.all(accountId).map((row) => ({ ...row, isDefault: row.isDefault === 1 })),
    add({ id, accountId, name, isDefault, createdAt }) {
      add.run(id, accountId, name, isDefault ? 1 : 0, createdAt);
    },
    rename: (environmentId, name) => void rename.run(name, environmentId),
    makeDefault({ id, accountId }) {
      clearDefault.run(accountId);
      setDefault.run(id);
    },
    remove: (environmentId) => void remove.run(environmentId),
    version: (versionId) => whole(version.get(versionId)),
    latest: (environmentId) => whole(latest.get(environmentId)),
    versions: (environmentId) => versions.all(environmentId),
    accountOf: (environmentId) => accountOf.get(environmentId)?.accountId,
    addVersion({ id, environmentId, versionNumber, createdAt, content }) {
      addVersion.run(id, environmentId, versionNumber, createdAt, JSON.stringify(content));
    },
  };
}
