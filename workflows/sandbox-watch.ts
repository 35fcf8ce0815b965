/**
 * Relays the events of one sandbox to workflows that wait for, borrow or fork from it without owning it, and holds
 * their leases. Started by the first of them; ends when the last has left or expired.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  claimDeleteUpdate,
  releaseClaimSignal,
  type SandboxEvent,
  sandboxEventSignal,
  watchRegisterSignal,
  watchUnregisterSignal,
} from './messages.js';
import {
  emptyWatch,
  expire,
  leasedBy,
  nextExpiryMs,
  register,
  relay,
  release,
  unregister,
  type WatchState,
} from './watch-state.js';

export interface SandboxWatchInput {
  readonly sandboxId: string;
  /** What an earlier run of the chain hands on. */
  readonly state?: WatchState;
  readonly pending?: readonly SandboxEvent[];
}

export async function sandboxWatch(input: SandboxWatchInput): Promise<void> {
  let state = input.state ?? emptyWatch;
  let changes = 0;
  const pending: SandboxEvent[] = [...(input.pending ?? [])];

  const change = (next: WatchState) => {
    state = next;
    changes += 1;
  };
  setHandler(watchRegisterSignal, (registration) => change(register(state, registration)));
  setHandler(watchUnregisterSignal, ({ workflowId }) => change(unregister(state, workflowId)));
  setHandler(sandboxEventSignal, (event) => {
    if (event.sandboxId === input.sandboxId) pending.push(event);
  });
  setHandler(claimDeleteUpdate, (claim) => {
    change(expire(state, Date.now()));
    const holders = leasedBy(state, claim.claimant);
    const isOpen = state.claim === null || state.claim.claimant === claim.claimant;
    if (holders.length > 0 || !isOpen) return { granted: false, leasedBy: holders };
    change({ ...state, claim });
    return { granted: true, leasedBy: [] };
  });

  setHandler(releaseClaimSignal, ({ claimant }) => change(release(state, claimant)));

  for (;;) {
    const seen = changes;
    const expiryMs = nextExpiryMs(state);
    const waitMs = expiryMs === undefined ? 0 : Math.max(1, expiryMs - Date.now());
    if (pending.length === 0 && waitMs > 0) {
      await condition(() => pending.length > 0 || changes !== seen, waitMs, { summary: 'until the next expiry' });
    }
    change(expire(state, Date.now()));
    for (let event = pending.shift(); event; event = pending.shift()) await deliver(event);
    if (nextExpiryMs(state) === undefined && pending.length === 0) {
      await condition(allHandlersFinished);
      if (nextExpiryMs(state) === undefined && pending.length === 0) return;
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof sandboxWatch>({ sandboxId: input.sandboxId, state, pending });
    }
  }

  async function deliver(event: SandboxEvent): Promise<void> {
    const next = relay(state, event.id);
    if (next === state) return;
    change(next);
    await Promise.all(
      state.registrations.map(async ({ workflowId }) => {
        try {
          await getExternalWorkflowHandle(workflowId).signal(sandboxEventSignal, event);
        } catch {
          // Closed or unknown: it will never unregister.
          change(unregister(state, workflowId));
        }
      }),
    );
  }
}
