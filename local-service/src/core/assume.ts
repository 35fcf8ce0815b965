/** Notes the assumptions that a call relies on, and says which do not hold here. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AssumptionId } from '../../../src/contract/assumptions.js';
import { type DeviationName, deviations } from '../deviations/deviations.js';
import { ServiceError } from '../service-error.js';

interface Noted {
  /** Gets the assumptions of the call. */
  readonly assumed: Set<AssumptionId>;
  readonly deviations: ReadonlySet<DeviationName>;
}

const ofCall = new AsyncLocalStorage<Noted>();

/** Runs `work` as part of a call, whose assumptions it notes, now or later. */
export function noteAssumptions<Result>(noted: Noted, work: () => Result): Result {
  return ofCall.run(noted, work);
}

/**
 * Notes that the answer to the current call relies on an assumption. The header of the answer names the assumption, and
 * the service counts it. Does nothing outside of a call, such as in scheduled work, which asks `context.deviations`.
 * Safe to repeat.
 * @returns false if the service deviates from the assumption
 * @throws ServiceError 409 `not_supported` if its deviation is that it refuses
 */
export function assume(id: AssumptionId): boolean {
  const call = ofCall.getStore();
  if (!call?.deviations.has(id)) {
    call?.assumed.add(id);
    return true;
  }
  if (deviations[id] !== 'refused') return false;
  throw new ServiceError(409, 'not_supported', `This service does not do that, because it deviates from ${id}.`);
}
