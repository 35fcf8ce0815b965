/** Notes the assumptions that a call relies on. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AssumptionId } from '../../../src/contract/assumptions.js';

const ofCall = new AsyncLocalStorage<Set<AssumptionId>>();

/** Runs `work` as part of a call, and adds the assumptions that `work` notes, now or later, to `noted`. */
export function noteAssumptions<Result>(noted: Set<AssumptionId>, work: () => Result): Result {
  return ofCall.run(noted, work);
}

/**
 * Notes that the answer to the current call relies on an assumption. The header of the answer names the assumption, and
 * the service counts it. Does nothing outside of a call, such as in scheduled work. Safe to repeat.
 */
export function assume(id: AssumptionId): void {
  ofCall.getStore()?.add(id);
}
