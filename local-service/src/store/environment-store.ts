/** Environments with their versions, and the secrets of accounts. A version is written once and never changed. */
import type { Database } from './database.js';

interface EnvironmentRow extends Omit<EnvironmentRecord, 'isDefault'> {
  readonly isDefault: number;
}

/** A version without its content. */
type VersionEntry = Omit<EnvironmentVersion, 'content'>;

export type EnvironmentStore = ReturnType<typeof createEnvironmentStore>;

export function createEnvironmentStore(database: Database) {
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
    /** Finds an environment, unless it is deleted. */
    get: (environmentId: string) => record(byId.get(environmentId)),
    byName: (accountId: string, name: string) => record(byName.get(accountId, name)),
    defaultOf: (accountId: string) => record(byDefault.get(accountId)),
    /** The environments of an account that are not deleted, oldest first. */
    of: (accountId: string) => byAccount.all(accountId).map((row) => ({ ...row, isDefault: row.isDefault === 1 })),
    add({ id, accountId, name, isDefault, createdAt }: EnvironmentRecord) {
      add.run(id, accountId, name, isDefault ? 1 : 0, createdAt);
    },
    rename: (environmentId: string, name: string) => void rename.run(name, environmentId),
    /** Makes an environment the default of its account, in place of the former default. */
    makeDefault({ id, accountId }: EnvironmentRecord) {
      clearDefault.run(accountId);
      setDefault.run(id);
    },
    /**
     * Marks an environment as deleted: it is no longer found. Its versions stay for the sandboxes that are pinned to
     * them.
     */
    remove: (environmentId: string) => void remove.run(environmentId),
    /** @param versionId null for a sandbox without an environment; the result is then undefined */
    version: (versionId: string | null) => (versionId === null ? undefined : whole(version.get(versionId))),
    latest: (environmentId: string) => whole(latest.get(environmentId)),
    /** Oldest first. */
    versions: (environmentId: string) => versions.all(environmentId),
    /** The account that an environment belongs to, deleted or not. */
    accountOf: (environmentId: string) => accountOf.get(environmentId)?.accountId,
    /** Adds a version, which is the latest from now on. */
    addVersion({ id, environmentId, versionNumber, createdAt, content }: EnvironmentVersion) {
      addVersion.run(id, environmentId, versionNumber, createdAt, JSON.stringify(content));
    },
  };
}

/** A repository as it was selected: the eleven fields that the specification shows. */
export interface SelectedRepository {
  readonly id: number;
  readonly databaseId: string;
  readonly name: string;
  readonly fullName: string;
  readonly private: boolean;
  readonly permissions: string;
  readonly pushedAt: string;
  readonly baseBranch: string;
  readonly setupRoutineId: string | null;
  readonly setupScript: string | null;
  readonly setupBlocking: boolean;
}

/** A repository that can be selected, with the address that it is cloned from; null if it is not. */
export interface ListedRepository extends SelectedRepository {
  readonly cloneUrl: string | null;
}

export interface SecretFile {
  /** As it was given: relative to the home, below `~/`, or absolute below `/home/sandbox`. */
  readonly path: string;
  readonly contents: string;
}

interface EnvironmentFlags {
  readonly safeForThirdParties: boolean;
  readonly passRepoHost: boolean;
  readonly passSecrets: boolean;
  readonly passSandboxCredentials: boolean;
  readonly passAgentsCredentials: boolean;
}

/** The content of a version. Every change of it creates a new version. */
export interface EnvironmentContent extends EnvironmentFlags {
  readonly envContents: string;
  readonly secretFiles: readonly SecretFile[];
  readonly selectedRepositories: readonly SelectedRepository[];
}

export interface EnvironmentVersion {
  readonly id: string;
  readonly environmentId: string;
  /** 1, 2, 3 and so on within its environment. */
  readonly versionNumber: number;
  readonly createdAt: string;
  readonly content: EnvironmentContent;
}

export interface EnvironmentRecord {
  readonly id: string;
  readonly accountId: string;
  /** Unique among the environments of an account. */
  readonly name: string;
  readonly isDefault: boolean;
  readonly createdAt: string;
}

export interface SecretName {
  readonly name: string;
  readonly updatedAt: string;
}

/** The secrets of accounts. Only machines receive the values. */
export function createSecretStore(database: Database) {
  const names = database.prepare<SecretName>('SELECT name, updatedAt FROM secrets WHERE accountId = ? ORDER BY name');
  const values = database.prepare<{ name: string; value: string }>(
    'SELECT name, value FROM secrets WHERE accountId = ? ORDER BY name',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO secrets (accountId, name, value, updatedAt) VALUES (?, ?, ?, ?)',
  );
  const remove = database.prepare('DELETE FROM secrets WHERE accountId = ? AND name = ?');
  return {
    /** Names and times, sorted by name; no values. */
    names: (accountId: string) => names.all(accountId),
    /** Values by name. Never show, log or keep them. */
    values: (accountId: string) => new Map(values.all(accountId).map(({ name, value }) => [name, value])),
    put: (accountId: string, { name, value, updatedAt }: SecretName & { readonly value: string }) =>
      void put.run(accountId, name, value, updatedAt),
    remove: (accountId: string, name: string) => void remove.run(accountId, name),
  };
}
