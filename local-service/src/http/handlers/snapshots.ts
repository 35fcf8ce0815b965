import type { Caller } from '../../access/key-scope.js';
import { sandboxFor } from '../../access/sandbox-access.js';
import { assume } from '../../core/assume.js';
import { deletionStarted } from '../../sandboxes/delete.js';
import { notFound } from '../../service-error.js';
import { deleteSnapshot } from '../../snapshots/remove-data.js';
import { restorableSnapshotFor, snapshotFor, snapshotView, visibleSnapshots } from '../../snapshots/snapshots.js';
import type { Operations } from '../operation.js';

export const snapshotOperations = {
  listSnapshots: (context, { caller }) => ({
    fields: { snapshots: visibleSnapshots(context, caller).map(snapshotView) },
  }),

  listSandboxSnapshots(context, { caller, params: { sandboxId } }) {
    sandboxFor(context, caller, sandboxId, 'view');
    assume('A-snapshots-kept');
    const kept = context.stores.snapshots.of(sandboxId).filter(({ expired }) => !expired);
    return { fields: { snapshots: kept.map(snapshotView) } };
  },

  getLatestSnapshot(context, { caller, params: { sandboxId } }) {
    sandboxFor(context, caller, sandboxId, 'view');
    const latest = context.stores.snapshots.of(sandboxId).findLast(({ expired }) => !expired);
    if (!latest) throw notFound(`The sandbox ${sandboxId} has no snapshot.`);
    return { fields: { snapshot: snapshotView(latest) } };
  },

  async getSnapshotTree(context, { caller, params: { snapshotId }, query: { path } }) {
    const { id, sandboxId } = restorableSnapshotFor(context, caller, snapshotId);
    return { fields: { entries: await context.host.tree(id, path) }, sandboxId };
  },

  async downloadSnapshotFile(context, { caller, params: { snapshotId }, query: { path } }) {
    const find = (by: Caller) => restorableSnapshotFor(context, by, snapshotId);
    const { id, sandboxId } = find(caller);
    return { raw: await context.host.download({ snapshotId: id }, path), mayRead: find, sandboxId };
  },

  async downloadSnapshot(context, { caller, params: { snapshotId } }) {
    const find = (by: Caller) => restorableSnapshotFor(context, by, snapshotId);
    const { id, sandboxId } = find(caller);
    return { raw: await context.host.download({ snapshotId: id }), mayRead: find, sandboxId };
  },

  deleteSnapshot(context, { caller, params: { snapshotId } }) {
    const snapshot = snapshotFor(context, caller, snapshotId, 'owner', { underDeletion: true });
    const operation = deleteSnapshot(context, snapshot);
    return { fields: deletionStarted(operation), sandboxId: snapshot.sandboxId };
  },
} satisfies Partial<Operations>;
