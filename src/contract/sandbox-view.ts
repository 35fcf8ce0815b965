/**
 * What workflows know of a sandbox. A view, so that URLs with tokens never reach history, and history stays small.
 * No dependencies: workflow code imports this file.
 */

export interface StopView {
  readonly id: string;
  readonly status: string;
  readonly requestedAt: string | null;
  /** When the last archival attempt ended. */
  readonly lastAttemptAt?: string | null;
  readonly error: string | null;
}

export interface SandboxView {
  readonly id: string;
  readonly name: string | null;
  readonly state: string;
  readonly error: string | null;
  /** Null where the service did not say. */
  readonly hydrated: boolean | null;
  readonly setupStatus: string | null;
  readonly setupError: string | null;
  readonly ttlSeconds: number | null;
  readonly createdAt: string | null;
  readonly access: string | null;
  /** False when it was created with snapshots off; null where the service did not say. */
  readonly snapshots: boolean | null;
  readonly snapshotAvailable: boolean | null;
  readonly snapshotCompletedAt: string | null;
  readonly snapshotVerifiedAt: string | null;
  readonly lastSnapshotStatus: string | null;
  /** When its snapshot data was deleted; absent in histories of earlier versions. */
  readonly dataExpiredAt?: string | null;
  /** Machine size; absent in histories of earlier versions. */
  readonly type?: string | null;
  readonly stop: StopView | null;
}
