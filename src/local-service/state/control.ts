/** The state of the service as a whole: exported, imported, seeded and emptied. */
import type { Readable } from 'node:stream';
import type { ControlledClock } from '../clock.js';
import type { Assembly } from '../core/assemble.js';
import type { CallStore } from '../store/call-store.js';
import type { CallGate } from './call-gate.js';
import { exportState } from './export-state.js';
import { importState } from './import-state.js';
import type { CheckedArchive } from './manifest.js';
import { emptyEverything } from './reset.js';
import { type Seeded, seedState } from './seed-state.js';
import type { ImportLimits } from './unpack.js';

export interface StateControl {
  /**
   * The whole state as a gzipped tar: every record, disk and snapshot, with every secret of the service in it. Calls wait
   * while it is copied, not while it is read.
   */
  export(): Promise<Readable>;
  /**
   * Replaces the whole state by an export; all or nothing. The clock is that of the export too. The service continues with
   * what the export had left open, as after a restart, and takes its own key in the place of the one that the exporting service was started with.
   * @throws ServiceError `bad_archive`, `archive_too_new`; the state is then what it was
   */
  import(archive: Readable): Promise<CheckedArchive>;
  /**
   * Adds what a document describes to the state; all or nothing. See `seedDocumentSchema`. No event is sent. Not safe to
   * repeat where it names things that can be there only once.
   * @throws ServiceError `bad_seed` that says which field is wrong
   */
  seed(document: unknown): Promise<Seeded>;
  /** Deletes every sandbox, webhook, fault and record. It goes on listening. */
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
      const letGo = await gate.hold();
      try {
        return await seedState(assembly.context, document, options);
      } finally {
        letGo();
      }
    },
    async reset() {
      const letGo = await gate.hold();
      try {
        await emptyEverything(assembly);
        clock.reset();
        calls.load();
      } finally {
        letGo();
      }
    },
  };
}
