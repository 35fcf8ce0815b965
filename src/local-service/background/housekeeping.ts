/** Removes records that are past their time (specification, "Limits"). */
import type { Context } from '../core/context.js';

const subjectName = 'records';

/** Plans the next removal. */
export function scheduleHousekeeping(context: Context): void {
  context.schedule('housekeeping', subjectName, '', context.clock.now() + context.timings.housekeepingMs);
}

/** The work `housekeeping`. */
export function runHousekeeping(context: Context): void {
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
