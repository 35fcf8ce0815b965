/** The record of a sandbox in the local service. Records are never changed in place: a change creates a new record. */
import type { machineTypes } from '../../../src/contract/workflow-safe/machine-types.js';
import type { SandboxState, StopStatus } from '../../../src/contract/workflow-safe/states.js';
import type { CredentialScope } from './credential-store.js';

export interface StopRecord {
  readonly id: string;
  readonly status: StopStatus;
  readonly requestedAt: string;
  readonly lastAttemptAt: string | null;
  readonly error: string | null;
  readonly endedAt: string | null;
}

export type SandboxType = keyof typeof machineTypes;

export interface SandboxSshKey {
  readonly accountId: string;
  readonly publicKey: string;
  /** Stands for the API key or session that registered it. */
  readonly token: string;
}

export interface SandboxRecord {
  readonly id: string;
  /** The account that created it. */
  readonly ownerId: string;
  readonly name: string;
  readonly state: SandboxState;
  readonly error: string | null;
  readonly type: SandboxType;
  readonly ttlSeconds: number | null;
  readonly archiveAfter: string | null;
  readonly snapshots: boolean;
  readonly monitoring: boolean;
  /** The present name of its environment; null with `noEnv`, and once the environment is deleted. */
  readonly environment: string | null;
  readonly environmentId: string | null;
  /** The version that it is pinned to until an upgrade; a fork begins with the pin of its source. */
  readonly environmentVersionId: string | null;
  readonly environmentVersion: number | null;
  /** The paths at which its disk, or a snapshot of it, holds secret files of environments; relative to the home. */
  readonly secretFilePaths: readonly string[];
  /**
   * True once its creator's logins were wiped. From then on it gets no secrets and secret files, even if its
   * environment passes them.
   */
  readonly loginsWiped: boolean;
  /** The organization that is billed; null if the owner's account is billed. */
  readonly teamId: string | null;
  /**
   * True if its creator, or the default of the organization, has made it private, independent of the logins that it
   * holds.
   */
  readonly madePrivate: boolean;
  /** True if it was shared while it held its creator's logins, which the next start wipes. */
  readonly wipePendingUntilRestart: boolean;
  /** The API key that created it; null if a session did. */
  readonly createdByKeyId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly dataExpiredAt: string | null;
  readonly hydrated: boolean;
  readonly hydratedAt: string | null;
  /** When the current background copy began; null when none runs. */
  readonly hydrationStartedAt: string | null;
  /** Files, folders and links that the current restore copies; null if they were not counted. */
  readonly hydrationEntries: number | null;
  /**
   * The step of the current copy that a fault makes fail, and how long the step is repeated, in ms; null without a
   * fault.
   */
  readonly hydrationSetback: { readonly phase: 'degraded' | 'stuck'; readonly ms: number } | null;
  /** Null if the machine is well, or if there is no machine. */
  readonly degraded: { readonly reason: string; readonly since: string } | null;
  /** At most one key of each account. */
  readonly sshKeys: readonly SandboxSshKey[];
  /** `host:port` while its SSH port is open. */
  readonly sshEndpoint: string | null;
  readonly snapshotId: string | null;
  /** The snapshots that were taken only to copy the disk for a fork. Absent: none. */
  readonly forkCopyIds?: readonly string[];
  /**
   * The id of the snapshot that is being taken. A repeated attempt uses the same id, so that no second snapshot is
   * left.
   */
  readonly pendingSnapshotId: string | null;
  readonly snapshotCompletedAt: string | null;
  /** When a check last found nothing new since that snapshot; null if none did. */
  readonly snapshotVerifiedAt: string | null;
  readonly lastSnapshotAttemptAt: string | null;
  readonly lastSnapshotStatus: 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | null;
  /**
   * The name that the next snapshot takes (assumption: PATCH with `snapshotName` before there is a snapshot), and the
   * scope of the key that asked for it.
   */
  readonly nextSnapshotName: { readonly name: string; readonly scope: CredentialScope | null } | null;
  /** The conversations of the source of a fork, which the disk of the fork holds too. Absent: none. */
  readonly inheritedConversations?: readonly string[];
  /** The `databaseId` of each repository that was cloned into its disk when it was created; absent before. */
  readonly clonedRepositories?: readonly string[];
  /** True if its repositories could not be cloned or set up, so that its next start does it. Nobody has used its disk. */
  readonly isCloneMissing?: boolean;
  readonly setupScript: string | null;
  readonly setupStatus: 'pending' | 'running' | 'done' | 'failed' | null;
  readonly setupError: string | null;
  readonly subdomain: string;
  readonly stop: StopRecord | null;
  /** The snapshot that the current boot restores; null if it starts with the existing disk or with an empty one. */
  readonly restoreFrom: string | null;
  /**
   * The snapshot that is copied to the disk in the background; null once the disk is known to be complete. Until then
   * the disk is complete, or does not exist.
   */
  readonly copyingFrom: string | null;
  /**
   * Grows with every create, stop and resume. Work that was scheduled for an earlier epoch is thereby recognised as
   * outdated.
   */
  readonly epoch: number;
  /**
   * Machine time: `runningSince` is when the current machine became usable. `seconds` is what was used in `month`
   * before that, times the multiplier of each machine's size.
   */
  readonly meter: { readonly month: string; readonly seconds: number; readonly runningSince: string | null };
  /** The end of its boot, if a fault decides it; set when the sandbox is accepted. */
  readonly fate: { readonly end: 'cancelled' } | { readonly end: 'error'; readonly recoverMs: number | null } | null;
  /** Null while the sandbox exists. `reported`: a cancelled sandbox that was read once (trap S5). */
  readonly gone: 'cancelled' | 'reported' | 'deleting' | 'deleted' | null;
}
