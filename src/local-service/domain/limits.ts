/** The 429 answers of create (specification, "Errors"; trap S14). */
import { ServiceError } from '../service-error.js';
import type { Context } from './context.js';

/** @throws ServiceError `daily_limit_reached` or `limit_reached` */
export function refuseOverLimit({ stores, limits, clock }: Context): void {
  if (limits.sandboxesPerDay !== undefined) {
    const midnight = `${clock.iso().slice(0, 10)}T00:00:00.000Z`;
    if (stores.sandboxes.countCreatedSince(midnight) >= limits.sandboxesPerDay) {
      const message = `The limit of ${limits.sandboxesPerDay} sandboxes a day is reached. It is renewed at midnight UTC.`;
      throw new ServiceError(429, 'daily_limit_reached', message);
    }
  }
  if (limits.activeSandboxes !== undefined) {
    let active = 0;
    for (const { state } of stores.sandboxes.living()) if (state !== 'archived') active++;
    if (active >= limits.activeSandboxes) {
      const message = `The limit of ${limits.activeSandboxes} active sandboxes is reached. Stop or delete one first.`;
      throw new ServiceError(429, 'limit_reached', message);
    }
  }
}
