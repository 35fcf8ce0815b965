/** Who waits for a sandbox, and who holds a lease on it. Pure. */
import type { WatchRegistration } from './messages.js';

/** Carried through continue-as-new. */
export interface WatchState {
  readonly registrations: readonly WatchRegistration[];
  /** The claim under which the sandbox is being deleted, if any. */
  readonly claim: { readonly claimant: string; readonly expiresAt: string } | null;
  /** Ids of the newest events that were relayed. */
  readonly relayed: readonly string[];
}

export const emptyWatch: WatchState = { registrations: [], claim: null, relayed: [] };

const rememberEvents = 200;

/** Registers, or renews; the newest registration of a workflow counts. */
export function register(state: WatchState, registration: WatchRegistration): WatchState {
  const others = state.registrations.filter(({ workflowId }) => workflowId !== registration.workflowId);
  return { ...state, registrations: [...others, registration] };
}

export function unregister(state: WatchState, workflowId: string): WatchState {
  return { ...state, registrations: state.registrations.filter((known) => known.workflowId !== workflowId) };
}

/** Gives back the claim of `claimant`; another's stands. */
export function release(state: WatchState, claimant: string): WatchState {
  return state.claim?.claimant === claimant ? { ...state, claim: null } : state;
}

/** Drops what has expired: a terminated waiter never unregisters. */
export function expire(state: WatchState, nowMs: number): WatchState {
  const lives = ({ expiresAt }: { readonly expiresAt: string }) => Date.parse(expiresAt) > nowMs;
  return {
    ...state,
    registrations: state.registrations.filter(lives),
    claim: state.claim && lives(state.claim) ? state.claim : null,
  };
}

/** When the next thing expires, in ms since the epoch; undefined when nothing is left. */
export function nextExpiryMs(state: WatchState): number | undefined {
  const times = [...state.registrations, ...(state.claim ? [state.claim] : [])].map((known) =>
    Date.parse(known.expiresAt),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Whoever else holds a lease. */
export function leasedBy(state: WatchState, claimant: string): readonly string[] {
  return state.registrations
    .filter(({ lease, workflowId }) => lease && workflowId !== claimant)
    .map((by) => by.workflowId);
}

/** Remembers an event; the same state when it was relayed before. */
export function relay(state: WatchState, eventId: string): WatchState {
  if (state.relayed.includes(eventId)) return state;
  return { ...state, relayed: [...state.relayed, eventId].slice(-rememberEvents) };
}
