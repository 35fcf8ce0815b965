import type { z } from 'zod';
import type { treeQuerySchema } from '../../contract/requests/sandbox-requests.js';
import type { Answer, CallOptions, StreamOptions } from '../call-options.js';
import type { DownloadStream, SavedDownload, SaveOptions } from '../download.js';

/** Query of GET /snapshots/{snapshotId}/tree. Assumption. */
export type SnapshotTreeQuery = z.infer<typeof treeQuerySchema>;

export interface SnapshotCalls {
  listSnapshots(options?: CallOptions): Answer<'listSnapshots'>;
  listSandboxSnapshots(sandboxId: string, options?: CallOptions): Answer<'listSandboxSnapshots'>;
  getLatestSnapshot(sandboxId: string, options?: CallOptions): Answer<'getLatestSnapshot'>;
  getSnapshotTree(snapshotId: string, query?: SnapshotTreeQuery, options?: CallOptions): Answer<'getSnapshotTree'>;
  /** Downloads a file of the snapshot, or a folder as tar.gz, of any size to this machine. Safe to repeat. */
  downloadSnapshotFile(snapshotId: string, path: string, options: SaveOptions): Promise<SavedDownload>;
  /** Downloads the same content as a stream. */
  openSnapshotFile(snapshotId: string, path: string, options?: StreamOptions): Promise<DownloadStream>;
  /** Downloads the whole snapshot, of any size, as tar.gz to this machine. Safe to repeat. */
  downloadSnapshot(snapshotId: string, options: SaveOptions): Promise<SavedDownload>;
  /** Downloads the same content as a stream. */
  openSnapshot(snapshotId: string, options?: StreamOptions): Promise<DownloadStream>;
  /** Deletes permanently; sends the confirming header. */
  deleteSnapshot(snapshotId: string, options?: CallOptions): Answer<'deleteSnapshot'>;
}
