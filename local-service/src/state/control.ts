/** Seeds and empties the whole state of the service. */
import type { Assembly } from '../assembly.js';
import { startAllWork, stopAllWork } from '../background/start-stop.js';
import type { ControlledClock } from '../clock.js';
import { snapshotsInUse } from '../snapshots/remove-data.js';
import type { CallStore } from '../store/call-store.js';
import type { CallGate } from './call-gate.js';
import { type Seeded, type SeedOptions, seedState } from './seed-state.js';

export interface StateControl {
  /**
   * Adds what a document describes to the state; all or nothing. See `seedDocumentSchema`. No event is sent. Not safe
   * to repeat if the document names things that can exist only once. Other calls are answered meanwhile. A seed or a
   * reset that is under way ends first.
   * @throws ServiceError `bad_seed` that says which field is wrong
   */
  seed(document: unknown, options?: SeedOptions): Promise<Seeded>;
  /** Deletes every sandbox, webhook, fault and record. The service keeps listening. */
  reset(): Promise<void>;
}

export function createStateControl(
  assembly: Assembly,
  options: {
    readonly gate: CallGate;
    readonly calls: CallStore;
    readonly clock: ControlledClock;
    readonly strictWebhookUrls: boolean;
  },
): StateControl {
  const { gate, clock, calls, strictWebhookUrls } = options;
  let earlier: Promise<unknown> = Promise.resolve();

  /** A reset would miss the disks of a seed under way, and two seeds could create the same sandbox. */
  function inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const mine = earlier.then(change);
    earlier = mine.catch(() => undefined);
    return mine;
  }

  async function reset(): Promise<void> {
    const release = await gate.hold();
    try {
      await emptyEverything(assembly);
      clock.reset();
      calls.load();
    } finally {
      release();
    }
  }

  return {
    // Holds no call: what it adds is seen from the end of its transaction on, with all its disks.
    seed: (document, more) => inTurn(() => seedState(assembly.context, document, { ...more, strictWebhookUrls })),
    reset: () => inTurn(reset),
  };
}

/** Resets the service to its initial state, without sandboxes, disks, snapshots, webhooks, faults and records. */
async function emptyEverything(assembly: Assembly): Promise<void> {
  const { stores, host, database } = assembly.context;
  const sandboxes = stores.sandboxes.all({});
  // A fork may be restoring a snapshot that has no record.
  const snapshots = new Set([...stores.snapshots.allIds(), ...snapshotsInUse(assembly.context)]);
  await stopAllWork(assembly);
  for (const { id } of sandboxes) await host.deleteDisk(id);
  for (const id of snapshots) await host.deleteSnapshot(id);
  database.transaction(() => database.clear());
  assembly.load();
  const start = await startAllWork(assembly);
  start();
}
