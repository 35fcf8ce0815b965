import type { Assembly } from './assemble.js';
import { scheduleHousekeeping } from './housekeeping.js';
import { workHandlers } from './work-handlers.js';

/** Takes the service back to its beginning: no sandbox, disk, snapshot, webhook, fault or record is left. */
export async function emptyEverything({ context, scheduler, deliverer, load }: Assembly): Promise<void> {
  const { stores, host, database } = context;
  for (const { id } of stores.sandboxes.living()) context.prompts.interrupt(id);
  const sandboxes = stores.sandboxes.all({});
  const snapshots = stores.snapshots.allIds();
  // Processes end first: a setup script may run for hours, and the scheduler waits for it.
  for (const { id } of sandboxes) await host.endProcesses(id);
  await Promise.all([scheduler.stop(), deliverer.stop(), context.prompts.idle()]);
  for (const { id } of sandboxes) await host.deleteDisk(id);
  for (const id of snapshots) await host.deleteSnapshot(id);
  database.transaction(() => database.clear());
  load();
  scheduler.start(workHandlers(context));
  scheduleHousekeeping(context);
  deliverer.start();
}
