/** Holds a batch whose items fail alike: no further item starts until a person lets it go on, or it ends. */
import { sendNotification } from '../../shared/send-notification.js';
import type { BatchState } from './batch-state.js';
import { endedCanariesOf, heldText, holdDue } from './hold-decision.js';

export function holdIfDue(batch: BatchState): void {
  const { carried, input } = batch;
  const { streak = null, isProven = false } = carried;
  if (carried.ending !== null || carried.held) return;
  if (streak === null && (isProven || !input.policy.canary)) return;
  const endedCanaries = endedCanariesOf(batch.known, batch.records, input.policy.canary);
  const isSealed = carried.seal !== null;
  const due = holdDue({ streak, counts: batch.counts, endedCanaries, isSealed, isProven }, input.policy);
  if (due === 'proven') carried.isProven = true;
  else if (due !== null && streak !== null) {
    const { outcome, code, count } = streak;
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
