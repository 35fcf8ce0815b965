/** Removes records that are past their time (specification, "Limits"). */
import type { Context } from './context.js';

const SUBJECT = 'records';

/** Plans the next removal. */
export function scheduleHousekeeping(context: Context): void {
  context.schedule('housekeeping', SUBJECT, '', Date.now() + context.timings.housekeepingMs);
}

/** The work `housekeeping`. */
export function keepHouse(context: Context): void {
  const { stores, timings } = context;
  const now = Date.now();
  context.database.transaction(() => {
    stores.idempotency.removeClaimedBefore(now - timings.idempotencyKeyMs);
    stores.deliveries.removeEndedBefore(now - timings.recordsMs);
    scheduleHousekeeping(context);
  });
}
