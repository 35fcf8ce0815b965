/** Snapshots: what was kept of a sandbox. */
import { z } from 'zod';
import type { Endpoint } from '../endpoint.js';
import { snapshotSchema, treeEntrySchema } from '../machine-records.js';
import { deletionOperationSchema } from '../records.js';
import { filePathQuerySchema, treeQuerySchema } from '../requests.js';

const ofSnapshots = z.looseObject({ snapshots: z.array(snapshotSchema) });

export const snapshotEndpoints = {
  listSnapshots: {
    method: 'GET',
    path: '/snapshots',
    summary: 'List snapshots',
    status: 200,
    type: 'snapshot.list',
    scope: 'snapshot.read',
    retry: 'safe',
    response: ofSnapshots,
    assumed: ['A-snapshot-record'],
  },
  listSandboxSnapshots: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}/snapshots',
    summary: "List a sandbox's snapshots",
    status: 200,
    type: 'snapshot.list',
    scope: 'snapshot.read',
    retry: 'safe',
    response: ofSnapshots,
    assumed: ['A-snapshot-record'],
  },
  getLatestSnapshot: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}/snapshots/latest',
    summary: "A sandbox's latest snapshot",
    status: 200,
    type: 'snapshot.info',
    scope: 'snapshot.read',
    retry: 'safe',
    response: z.looseObject({ snapshot: snapshotSchema }),
    assumed: ['A-snapshot-record'],
  },
  getSnapshotTree: {
    method: 'GET',
    path: '/snapshots/{snapshotId}/tree',
    summary: 'File tree of a snapshot',
    status: 200,
    type: 'snapshot.tree',
    scope: 'snapshot.read',
    retry: 'safe',
    query: treeQuerySchema,
    response: z.looseObject({ entries: z.array(treeEntrySchema) }),
    assumed: ['A-snapshot-tree'],
  },
  downloadSnapshotFile: {
    method: 'GET',
    path: '/snapshots/{snapshotId}/files',
    summary: 'Download a file of a snapshot, or a folder as tar.gz',
    status: 200,
    type: null,
    raw: true,
    scope: 'snapshot.read',
    retry: 'safe',
    query: filePathQuerySchema,
    response: z.looseObject({}),
    assumed: ['A-raw-bytes'],
  },
  downloadSnapshot: {
    method: 'GET',
    path: '/snapshots/{snapshotId}/download',
    summary: 'Download a whole snapshot as tar.gz',
    status: 200,
    type: null,
    raw: true,
    scope: 'snapshot.read',
    retry: 'safe',
    response: z.looseObject({}),
    assumed: ['A-raw-bytes'],
  },
  deleteSnapshot: {
    method: 'DELETE',
    path: '/snapshots/{snapshotId}',
    summary: 'Delete a snapshot for ever',
    status: 202,
    type: 'snapshot.deleting',
    scope: 'snapshot.write',
    retry: 'safe',
    confirmDelete: true,
    response: z.looseObject({ operationId: z.string(), operation: deletionOperationSchema.optional() }),
    assumed: ['A-snapshot-delete', 'A-deletion-operation'],
  },
} as const satisfies Record<string, Endpoint>;
