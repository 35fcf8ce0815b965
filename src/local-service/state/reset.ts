import { startAllWork, stopAllWork } from '../background/start-stop.js';
import type { Assembly } from '../core/assemble.js';
import { snapshotsInUse } from '../snapshots/data.js';

/** Takes the service back to its beginning: no sandbox, disk, snapshot, webhook, fault or record is left. */
export async function emptyEverything(assembly: Assembly): Promise<void> {
  const { stores, host, database } = assembly.context;
  const sandboxes = stores.sandboxes.all({});
  // A fork may restore what is in no book.
  const snapshots = new Set([...stores.snapshots.allIds(), ...snapshotsInUse(assembly.context)]);
  await stopAllWork(assembly);
  for (const { id } of sandboxes) await host.deleteDisk(id);
  for (const id of snapshots) await host.deleteSnapshot(id);
  database.transaction(() => database.clear());
  assembly.load();
  const start = await startAllWork(assembly);
  start();
}
