/**
 * What workflows know about a sandbox. The view leaves out URLs with tokens, so that they never reach the history of a
 * workflow, and keeps the history small.
 * No dependencies: workflow code imports this file.
 */

export interface StopView {
  readonly id: string;
  /** One of `stopStatuses`, or a status that is not listed. */
  readonly status: string;
  /** ISO 8601 time; null once the stop has ended. */
  readonly requestedAt: string | null;
  /** When the last archival attempt ended. */
  readonly lastAttemptAt?: string | null;
  /** Why the last attempt failed; null if it did not. */
  readonly error: string | null;
  /** When it was completed or superseded, as an ISO 8601 time; absent before. */
  readonly endedAt?: string;
}

/** Progress of a restore. */
export interface HydrationView {
  /** The step of the restore. `degraded` and `stuck` mean that a step failed and is retried. */
  readonly phase: string;
  /** 0 to 99; null while unknown. It may stop short of 99. */
  readonly percent: number | null;
  /** Files, folders and links copied so far. */
  readonly entriesDone: number;
  /** The number of files, folders and links; null while unknown. */
  readonly entriesTotal: number | null;
}

/** A sandbox in the form that workflows use. Fields that the service did not return are absent or null. */
export interface SandboxView {
  readonly id: string;
  /** Name of the sandbox; null if the service did not return one. */
  readonly name: string | null;
  /** One of `sandboxStates`, or a state that is not listed. */
  readonly state: string;
  /** Why the sandbox is stopped, failed or cancelled; null if there is no reason. */
  readonly error: string | null;
  /** True once every file of the snapshot is on the disk; null if the service did not return it. */
  readonly hydrated: boolean | null;
  /** Status of the setup script; null without one. */
  readonly setupStatus: string | null;
  /** Why the setup script failed; null if it did not. */
  readonly setupError: string | null;
  /** Auto-stop length in seconds; null if auto-stop is disabled. */
  readonly ttlSeconds: number | null;
  /** ISO 8601 time; null if the service did not return one. */
  readonly createdAt: string | null;
  /** What the caller may do: `owner`, `use` or `view`; null if the service did not return it. */
  readonly access: string | null;
  /** False if the sandbox was created with snapshots off; null if the service did not return it. */
  readonly snapshots: boolean | null;
  /** Whether a snapshot exists; null if the service did not return it. */
  readonly snapshotAvailable: boolean | null;
  /** Time of the latest completed snapshot; null without one. */
  readonly snapshotCompletedAt: string | null;
  /** When a snapshot last confirmed the saved state; null if no snapshot did. */
  readonly snapshotVerifiedAt: string | null;
  /** Status of the latest snapshot attempt; null without one. */
  readonly lastSnapshotStatus: string | null;
  /** When the snapshot data of the sandbox was deleted, as an ISO 8601 time; null while it is there. */
  readonly dataExpiredAt: string | null;
  /** Machine size; null if the service did not return it. */
  readonly type: string | null;
  /** `degraded`: the machine is alive but not fully reachable. */
  readonly health?: string;
  /** Why it is degraded; absent if it is not. */
  readonly healthReason?: string;
  /** When it became degraded, as an ISO 8601 time; absent if it is not. */
  readonly degradedSince?: string;
  /** When it stops by itself, as an ISO 8601 time; absent if auto-stop is disabled. */
  readonly archiveAfter?: string;
  /** Name of its environment; absent without one. */
  readonly environment?: string;
  /** The version of the environment that it keeps; absent without an environment. */
  readonly environmentVersion?: number;
  /** `shared` or `private`; absent for a personal sandbox. */
  readonly visibility?: string;
  /** True if it was shared and has not restarted since: its creator's logins are wiped at the next start. */
  readonly wipePendingUntilRestart?: true;
  /** True while it holds personal logins of its creator. */
  readonly holdsCreatorLogins?: true;
  /** The organization that is billed; absent if its owner is. */
  readonly team?: { readonly id: string; readonly name: string };
  /** Display name of who created it; absent for a personal sandbox. */
  readonly createdBy?: string;
  /** Account id of who created it; absent for a personal sandbox. */
  readonly createdById?: string;
  /** Progress of its restore; present only in a read of one sandbox that is not hydrated. */
  readonly hydration?: HydrationView;
  /** When its last restore finished, as an ISO 8601 time; absent without one. */
  readonly hydratedAt?: string;
  /** When a snapshot was last attempted, as an ISO 8601 time; absent if never. */
  readonly lastSnapshotAttemptAt?: string;
  /** `host:port` of its SSH server; absent if the machine has an address of its own. */
  readonly sshEndpoint?: string;
  /** Machine time of this month, in seconds, and its price; present only in a list that includes the cost. */
  readonly cost?: { readonly seconds: number; readonly dollars: number };
  /** The latest stop; null without one. */
  readonly stop: StopView | null;
}

/** What a share or an unshare returns. */
export interface SharingView extends SandboxView {
  /** What the service says about it, such as that the share takes effect at the next start; null without a text. */
  readonly message: string | null;
}

/** A sandbox that is alive but not fully reachable. */
export interface DegradedSandbox {
  readonly sandboxId: string;
  /** Why it is degraded; null if the service gives no reason. */
  readonly reason: string | null;
  /** When it became degraded, as an ISO 8601 time; null if unknown. */
  readonly since: string | null;
}

type Health = Pick<SandboxView, 'id' | 'health' | 'healthReason' | 'degradedSince'>;

/** Null if the sandbox is not degraded. */
export function degradedOf({ id, health, healthReason, degradedSince }: Health): DegradedSandbox | null {
  return health === 'degraded' ? { sandboxId: id, reason: healthReason ?? null, since: degradedSince ?? null } : null;
}
