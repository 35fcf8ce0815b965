/** Notes the assumptions that a call relies on, from wherever in the service they are relied on. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AssumptionId } from '../../contract/assumptions.js';

const ofCall = new AsyncLocalStorage<Set<AssumptionId>>();

/** Does `work` as part of a call: what it assumes, now and later, is noted in `noted`. */
export function noteAssumptions<Result>(noted: Set<AssumptionId>, work: () => Result): Result {
  return ofCall.run(noted, work);
}

/**
 * Says that the answer to the call of now relies on an assumption: its header names it, and it is counted. Outside of a
 * call, as in work that was scheduled, there is no answer, and nothing happens. Safe to repeat.
 */
export function assume(id: AssumptionId): void {
  ofCall.getStore()?.add(id);
}
