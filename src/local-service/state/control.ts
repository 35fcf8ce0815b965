/** Exports, imports, seeds and empties the whole state of the service. */
import type { Readable } from 'node:stream';
import type { Assembly } from '../assembly.js';
import { startAllWork, stopAllWork } from '../background/start-stop.js';
import type { ControlledClock } from '../clock.js';
import { isMachineId } from '../machine/index.js';
import { snapshotsInUse } from '../snapshots/data.js';
import type { CallStore } from '../store/call-store.js';
import type { CallGate } from './call-gate.js';
import { exportState } from './export-state.js';
import { importState } from './import-state.js';
import type { CheckedArchive } from './manifest.js';
import { type Seeded, seedState } from './seed-state.js';
import type { ImportLimits } from './unpack.js';

export interface StateControl {
  /**
   * Exports the whole state as a gzipped tar: every record, disk and snapshot, with every secret of the service. Calls
   * wait while the state is copied, but not while the stream is read.
   */
  export(): Promise<Readable>;
  /**
   * Replaces the whole state, including the clock, by an export; all or nothing. The service then continues the
   * unfinished work of the export, as after a restart. The key of this service replaces the key of the service that
   * made the export.
   * @throws ServiceError `bad_archive`, `archive_of_other_version`; the state is then unchanged
   */
  import(archive: Readable): Promise<CheckedArchive>;
  /**
   * Adds what a document describes to the state; all or nothing. See `seedDocumentSchema`. No event is sent. Not safe
   * to repeat if the document names things that can exist only once.
   * @throws ServiceError `bad_seed` that says which field is wrong
   */
  seed(document: unknown): Promise<Seeded>;
  /** Deletes every sandbox, webhook, fault and record. The service keeps listening. */
  reset(): Promise<void>;
}

export function createStateControl(
  assembly: Assembly,
  options: {
    readonly directory: string;
    readonly gate: CallGate;
    readonly calls: CallStore;
    readonly clock: ControlledClock;
    readonly strictWebhookUrls: boolean;
    readonly importLimits: ImportLimits;
  },
): StateControl {
  const { gate, clock, calls } = options;
  return {
    export: () => exportState(assembly, options),
    import: (archive) => importState(assembly, archive, options),
    async seed(document) {
      const release = await gate.hold();
      try {
        return await seedState(assembly.context, document, options);
      } finally {
        release();
      }
    },
    async reset() {
      const release = await gate.hold();
      try {
        await emptyEverything(assembly);
        clock.reset();
        calls.load();
      } finally {
        release();
      }
    },
  };
}

/** Resets the service to its initial state, without sandboxes, disks, snapshots, webhooks, faults and records. */
async function emptyEverything(assembly: Assembly): Promise<void> {
  const { stores, host, database } = assembly.context;
  const sandboxes = stores.sandboxes.all({});
  // A fork may be restoring a snapshot that has no record.
  const snapshots = new Set([...stores.snapshots.allIds(), ...snapshotsInUse(assembly.context)]);
  await stopAllWork(assembly);
  // An import of an earlier version may have brought other ids, to which nothing on disk belongs.
  for (const { id } of sandboxes) if (isMachineId(id)) await host.deleteDisk(id);
  for (const id of snapshots) if (isMachineId(id)) await host.deleteSnapshot(id);
  database.transaction(() => database.clear());
  assembly.load();
  const start = await startAllWork(assembly);
  start();
}
