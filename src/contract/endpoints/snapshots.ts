/** Snapshots: saved states of a sandbox. */
import { z } from 'zod';
import { snapshotSchema, treeEntrySchema } from '../records/machine-records.js';
import { deletionStartedSchema } from '../records/sandbox-records.js';
import { filePathQuerySchema, treeQuerySchema } from '../requests/sandbox-requests.js';
import { deletion, download, type Endpoint, read } from './endpoint.js';

const ofSnapshots = z.looseObject({ snapshots: z.array(snapshotSchema) });

export const snapshotEndpoints = {
  listSnapshots: {
    ...read,
    path: '/snapshots',
    summary: 'List snapshots',
    type: 'snapshot.list',
    scope: 'snapshot.read',
    response: ofSnapshots,
    assumed: ['A-snapshot-record'],
  },
  listSandboxSnapshots: {
    ...read,
    path: '/sandboxes/{sandboxId}/snapshots',
    summary: "List a sandbox's snapshots",
    type: 'snapshot.list',
    scope: 'snapshot.read',
    response: ofSnapshots,
    assumed: ['A-snapshot-record'],
  },
  getLatestSnapshot: {
    ...read,
    path: '/sandboxes/{sandboxId}/snapshots/latest',
    summary: "Get a sandbox's latest snapshot",
    type: 'snapshot.info',
    scope: 'snapshot.read',
    response: z.looseObject({ snapshot: snapshotSchema }),
    assumed: ['A-snapshot-record'],
  },
  getSnapshotTree: {
    ...read,
    path: '/snapshots/{snapshotId}/tree',
    summary: 'List the file tree of a snapshot',
    type: 'snapshot.tree',
    scope: 'snapshot.read',
    query: treeQuerySchema,
    response: z.looseObject({ entries: z.array(treeEntrySchema) }),
    assumed: ['A-snapshot-tree'],
  },
  downloadSnapshotFile: {
    ...download,
    path: '/snapshots/{snapshotId}/files',
    summary: 'Download a file of a snapshot, or a folder as tar.gz',
    scope: 'snapshot.read',
    query: filePathQuerySchema,
  },
  downloadSnapshot: {
    ...download,
    path: '/snapshots/{snapshotId}/download',
    summary: 'Download a whole snapshot as tar.gz',
    scope: 'snapshot.read',
  },
  deleteSnapshot: {
    ...deletion,
    path: '/snapshots/{snapshotId}',
    summary: 'Delete a snapshot permanently',
    type: 'snapshot.deleting',
    scope: 'snapshot.write',
    response: deletionStartedSchema,
    assumed: ['A-snapshot-delete', 'A-deletion-operation'],
  },
} as const satisfies Record<string, Endpoint>;
