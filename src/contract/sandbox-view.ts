/**
 * What workflows know about a sandbox. The view leaves out URLs with tokens, so that they never reach the history of a
 * workflow, and keeps the history small.
 * No dependencies: workflow code imports this file.
 */

export interface StopView {
  /** Id of the stop. */
  readonly id: string;
  /** One of `stopStatuses`, or a status that is not listed. */
  readonly status: string;
  /** ISO 8601 time; null once the stop has ended. */
  readonly requestedAt: string | null;
  /** When the last archival attempt ended. */
  readonly lastAttemptAt?: string | null;
  /** Why the last attempt failed; null if it did not. */
  readonly error: string | null;
}

/** A sandbox in the form that workflows use. */
export interface SandboxView {
  /** Id of the sandbox. */
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
  /** When the snapshot data of the sandbox was deleted; absent in histories of earlier versions. */
  readonly dataExpiredAt?: string | null;
  /** Machine size; absent in histories of earlier versions. */
  readonly type?: string | null;
  /** The latest stop; null without one. */
  readonly stop: StopView | null;
}
