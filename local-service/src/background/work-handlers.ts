import type { Context } from '../core/context.js';
import { archive, expireData } from '../sandboxes/archive.js';
import { hydrate } from '../sandboxes/background-copy.js';
import { boot, recoverFromError } from '../sandboxes/boot.js';
import { executeDeletion } from '../sandboxes/delete.js';
import { setUp } from '../sandboxes/setup.js';
import { syncSsh } from '../sandboxes/ssh-access.js';
import { autoStop } from '../sandboxes/stop.js';
import { periodicSnapshot } from '../snapshots/periodic.js';
import { dropSnapshot } from '../snapshots/remove-data.js';
import type { WorkHandlers } from './scheduler.js';

/** The operation for each kind of work. */
export function workHandlers(context: Context): WorkHandlers {
  return {
    boot: (work) => boot(context, work),
    hydrate: (work) => hydrate(context, work),
    setup: (work) => setUp(context, work),
    archive: (work) => archive(context, work),
    auto_stop: (work) => autoStop(context, work),
    snapshot: (work) => periodicSnapshot(context, work),
    delete: (work) => executeDeletion(context, work),
    expire_data: (work) => expireData(context, work),
    drop_snapshot: (work) => dropSnapshot(context, work),
    ssh: ({ subject }) => syncSsh(context, subject),
    recover: (work) => recoverFromError(context, work),
    housekeeping: () => runHousekeeping(context),
  };
}

const subjectName = 'records';

export function scheduleHousekeeping(context: Context): void {
  context.schedule('housekeeping', subjectName, '', context.clock.now() + context.timings.housekeepingMs);
}

/** The work `housekeeping`: removes records that are no longer needed. */
function runHousekeeping(context: Context): void {
  const { stores, timings } = context;
  const now = context.clock.now();
  context.database.transaction(() => {
    stores.idempotency.removeClaimedBefore(now - timings.idempotencyKeyMs);
    stores.deliveries.removeEndedBefore(now - timings.recordsMs);
    stores.samples.removeTakenBefore(now - timings.processSampleKeptMs);
    stores.credentials.removeOfSandboxes((sandboxId) => stores.sandboxes.get(sandboxId) === undefined);
    scheduleHousekeeping(context);
  });
}
