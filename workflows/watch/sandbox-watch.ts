/**
 * Relays the events of one sandbox to workflows that wait for it, use it, fork it or stop it, but do not own it. Keeps
 * the leases of these workflows. Also keeps claims; while a claim exists, no lease is granted. The first workflow starts
 * the watch. The watch ends when the last workflow has unregistered or its registration has expired. All times use the
 * watch's clock, which is the Temporal server's.
 */
import { allHandlersFinished, condition, getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import {
  claimSandboxUpdate,
  type HoldAnswer,
  leaseSandboxUpdate,
  releaseClaimSignal,
  type SandboxEvent,
  sandboxEventSignal,
  watchRegisterSignal,
  watchUnregisterSignal,
  workingHoldersQuery,
} from '../../src/protocol/messages.js';
import { moveOn, mustMoveOn } from '../shared/continue-as-new.js';
import {
  claim,
  emptyWatch,
  expire,
  type HoldDecision,
  lease,
  nextExpiryMs,
  receivers,
  register,
  relay,
  release,
  unregister,
  type WatchState,
  workingHolders,
} from './leases-and-claims.js';

export interface SandboxWatchInput {
  readonly sandboxId: string;
  /**
   * Numbers of messages and events after which the watch continues as new. Temporal ends a run at 2,000 Updates, 10,000
   * signals or 51,200 events.
   */
  readonly limits?: { readonly updates?: number; readonly signals?: number; readonly historyEvents?: number };
  /** State carried over from an earlier run of the chain. */
  readonly state?: WatchState;
  readonly pending?: readonly SandboxEvent[];
}

const defaultLimits = { updates: 1_000, signals: 5_000 };
/** Limit of undelivered events; the oldest are dropped. Events are hints, and a receiver that misses one polls. */
const pendingAtMost = 200;

export async function sandboxWatch(input: SandboxWatchInput): Promise<void> {
  const limits = { ...defaultLimits, ...input.limits };
  let state = input.state ?? emptyWatch;
  const pending: SandboxEvent[] = [...(input.pending ?? [])];
  let updates = 0;
  let signals = 0;

  const change = (next: WatchState) => {
    signals += 1;
    state = next;
  };
  const answer = (decision: HoldDecision): HoldAnswer => {
    updates += 1;
    state = decision.state;
    return decision.answer;
  };
  setHandler(watchRegisterSignal, (registration) => change(register(state, registration, Date.now())));
  setHandler(watchUnregisterSignal, ({ workflowId }) => change(unregister(state, workflowId)));
  setHandler(releaseClaimSignal, (released) => change(release(state, released)));
  setHandler(sandboxEventSignal, (event) => {
    signals += 1;
    if (event.sandboxId !== input.sandboxId) return;
    pending.push(event);
    if (pending.length > pendingAtMost) pending.shift();
  });
  setHandler(workingHoldersQuery, () => workingHolders(state, Date.now()));
  setHandler(leaseSandboxUpdate, (request) => answer(lease(state, request, Date.now())));
  setHandler(claimSandboxUpdate, (request) => answer(claim(state, request, Date.now())));

  const isIdle = () => nextExpiryMs(state) === undefined && pending.length === 0;
  const hasGrown = () =>
    mustMoveOn(input.limits?.historyEvents) || updates >= limits.updates || signals >= limits.signals;
  for (;;) {
    state = expire(state, Date.now());
    for (let event = pending.shift(); event; event = pending.shift()) await deliver(event);
    if (isIdle()) {
      await condition(allHandlersFinished);
      if (isIdle()) return;
    }
    if (hasGrown()) {
      await condition(allHandlersFinished);
      await moveOn<typeof sandboxWatch>({ ...input, state, pending });
    }
    const expiryMs = nextExpiryMs(state) ?? Date.now();
    // A renewal postpones an expiry. The existing timer is kept, and checks again when it fires.
    const mustAct = () => pending.length > 0 || isIdle() || hasGrown() || (nextExpiryMs(state) ?? expiryMs) < expiryMs;
    await condition(mustAct, Math.max(1, expiryMs - Date.now()), { summary: 'until the next expiry' });
  }

  async function deliver(event: SandboxEvent): Promise<void> {
    const next = relay(state, event.id);
    if (next === state) return;
    state = next;
    await Promise.all(
      receivers(state).map(async (workflowId) => {
        try {
          await getExternalWorkflowHandle(workflowId).signal(sandboxEventSignal, event);
        } catch {
          // The receiver is closed or unknown, so it will never unregister.
          state = unregister(state, workflowId);
        }
      }),
    );
  }
}
