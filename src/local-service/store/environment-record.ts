/** What the local service knows about an environment (specification, "Environment"). */

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

export interface SecretFile {
  /** As it was given: relative to the home, below `~/`, or absolute below `/home/sandbox`. */
  readonly path: string;
  readonly contents: string;
}

export interface EnvironmentFlags {
  readonly safeForThirdParties: boolean;
  readonly passRepoHost: boolean;
  readonly passSecrets: boolean;
  readonly passSandboxCredentials: boolean;
  readonly passAgentsCredentials: boolean;
}

/** What a version says; any change of it is a new version. */
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
  /** No two environments of an account share one. */
  readonly name: string;
  readonly isDefault: boolean;
  readonly createdAt: string;
}
