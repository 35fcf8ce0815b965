/** Holds a batch whose items fail alike: no further item starts until a person lets it go on, or it ends. */
import { sendNotification } from '../../shared/send-notification.js';
import { knowsLosses } from '../markers.js';
import { hasFailed } from '../source/source-slot.js';
import type { BatchState } from './batch-state.js';
import { endedCanariesOf, heldText, holdDue, unrunCanariesOf } from './hold-decision.js';

export function holdIfDue(batch: BatchState): void {
  const { carried, input } = batch;
  const { streak = null, isProven = false } = carried;
  if (carried.ending !== null || carried.held) return;
  if (streak === null && (isProven || !input.policy.canary)) return;
  const { canary = 0 } = input.policy;
  const endedCanaries = endedCanariesOf(batch.known, batch.records, canary);
  const sourceless = batch.records.filter((record) => hasFailed(batch.slotOf(record)));
  const unrun = isProven ? 0 : unrunCanariesOf(sourceless, canary);
  const unrunCanaries = unrun > 0 && knowsLosses() ? unrun : 0;
  const isSealed = carried.seal !== null;
  const { counts } = batch;
  const due = holdDue({ streak, counts, endedCanaries, unrunCanaries, isSealed, isProven }, input.policy);
  // A source that has changed fails once its running items have ended. Its canaries may then prove nothing.
  const own = batch.ownSlots.map((slot) => slot.carried);
  const mayFail = own.some((one) => one.sourceChange && !one.hasFailed && one.firstIndex < canary) && knowsLosses();
  if (due === 'proven' && mayFail) return;
  if (due === 'proven') carried.isProven = true;
  else if (due !== null) {
    const ofSource = { outcome: 'not_started', code: carried.sourceFailure?.code ?? null, count: unrun } as const;
    const { outcome, code, count } = streak ?? ofSource;
    carried.held = { by: due, outcome, code, count, since: new Date().toISOString() };
    const teller = { input: { jobId: input.batchId, notify: input.notify }, sandbox: null };
    const message = heldText(input.batchId, carried.held);
    batch.inBackground(() => sendNotification(teller, 'blocked', null, message));
    batch.noteChange();
  }
}

/** The failures before count no more, so it goes on until as many follow again. */
export function letGoOn(batch: BatchState): { readonly wasHeld: boolean } {
  const { carried } = batch;
  if (!carried.held || carried.ending !== null) return { wasHeld: false };
  carried.held = null;
  carried.streak = null;
  carried.isProven = true;
  batch.noteChange();
  return { wasHeld: true };
}
