/** The registrations, leases and claims of a sandbox. Pure; `nowMs` is the watch's own clock. */
import type {
  ClaimRequest,
  HoldAnswer,
  LeaseRequest,
  LeaseUse,
  WatchRegistration,
} from '../../src/protocol/messages.js';

interface Registered {
  readonly workflowId: string;
  /** Null if the workflow only receives events. */
  readonly lease: LeaseUse | null;
  readonly expiresAtMs: number;
}

interface Claimed {
  readonly claimant: string;
  readonly purpose: string;
  readonly expiresAtMs: number;
}

/** Carried through continue-as-new. */
export interface WatchState {
  readonly registrations: readonly Registered[];
  /** All claims belong to one workflow, which may have several of them at the same time. */
  readonly claims: readonly Claimed[];
  /** Ids of the newest events that were relayed. */
  readonly relayed: readonly string[];
}

export const emptyWatch: WatchState = { registrations: [], claims: [], relayed: [] };

const rememberEvents = 200;
/**
 * Limit of registrations: each registered workflow receives every event, and Temporal allows a workflow 2,000 pending
 * signals.
 */
const registrationsAtMost = 1_000;
const namedAtMost = 10;

/** The new state and the answer to a request. */
export interface HoldDecision {
  readonly state: WatchState;
  readonly answer: HoldAnswer;
}

/**
 * Registers a workflow for events, or renews its registration. An existing lease is not changed. If there is no room,
 * the workflow is not registered: it learns by its polls what an event would have told it.
 */
export function register(given: WatchState, { workflowId, lastsMs }: WatchRegistration, nowMs: number): WatchState {
  const state = expire(given, nowMs);
  if (!hasRoomFor(state, workflowId)) return state;
  const lease = state.registrations.find((known) => known.workflowId === workflowId)?.lease ?? null;
  return withRegistration(state, { workflowId, lease, expiresAtMs: nowMs + lastsMs });
}

/** Grants or renews a lease, unless somebody else has claimed the sandbox. */
export function lease(given: WatchState, { workflowId, use, lastsMs }: LeaseRequest, nowMs: number): HoldDecision {
  const state = expire(given, nowMs);
  const claimedBy = claimedByOthers(state, workflowId);
  const granted = claimedBy.length === 0 && hasRoomFor(state, workflowId);
  const answer = { granted, claimedBy, leasedBy: leasedBy(state, workflowId, 'any') };
  if (!granted) return { state, answer };
  return { state: withRegistration(state, { workflowId, lease: use, expiresAtMs: nowMs + lastsMs }), answer };
}

/**
 * Grants or renews a claim. Refuses if another workflow has claimed the sandbox, or holds a lease that conflicts with
 * the claim. A claimant that ends the work in the machine no longer works there: its own lease would hold back the
 * escalation of its stop.
 */
export function claim(given: WatchState, request: ClaimRequest, nowMs: number): HoldDecision {
  const state = expire(given, nowMs);
  const { claimant, purpose, ends, lastsMs } = request;
  const claimedBy = claimedByOthers(state, claimant);
  const holders = leasedBy(state, claimant, ends);
  const granted = claimedBy.length === 0 && holders.length === 0;
  const answer = { granted, claimedBy, leasedBy: holders };
  if (!granted) return { state, answer };
  const others = state.claims.filter((known) => known.purpose !== purpose);
  const claims = [...others, { claimant, purpose, expiresAtMs: nowMs + lastsMs }];
  const endsOwnWork = (known: Registered) => ends === 'work' && known.workflowId === claimant && known.lease === 'work';
  const registrations = state.registrations.map((known) =>
    endsOwnWork(known) ? { ...known, lease: 'fork' as const } : known,
  );
  return { state: { ...state, registrations, claims }, answer };
}

/** The workflows that work in the machine; at most ten. */
export function workingHolders(given: WatchState, nowMs: number): readonly string[] {
  return leasedBy(expire(given, nowMs), '', 'work');
}

export function unregister(state: WatchState, workflowId: string): WatchState {
  return { ...state, registrations: state.registrations.filter((known) => known.workflowId !== workflowId) };
}

/** Releases one claim of `claimant`. Claims of other workflows stay. */
export function release(state: WatchState, { claimant, purpose }: Pick<ClaimRequest, 'claimant' | 'purpose'>) {
  const isAnother = (known: Claimed) => known.claimant !== claimant || known.purpose !== purpose;
  return { ...state, claims: state.claims.filter(isAnother) };
}

/** Drops expired entries: a terminated holder never releases anything. */
export function expire(state: WatchState, nowMs: number): WatchState {
  const lives = ({ expiresAtMs }: { readonly expiresAtMs: number }) => expiresAtMs > nowMs;
  return { ...state, registrations: state.registrations.filter(lives), claims: state.claims.filter(lives) };
}

/** When the next entry expires, in ms since the epoch; undefined if there are none. */
export function nextExpiryMs({ registrations, claims }: WatchState): number | undefined {
  const times = [...registrations, ...claims].map(({ expiresAtMs }) => expiresAtMs);
  return times.length === 0 ? undefined : times.reduce((soonest, time) => Math.min(soonest, time));
}

/** The workflows that receive the events. A claimant waits for the end of what it stops. */
export function receivers({ registrations, claims }: WatchState): readonly string[] {
  return [
    ...new Set([...registrations.map(({ workflowId }) => workflowId), ...claims.map(({ claimant }) => claimant)]),
  ];
}

/** Records an event. Returns the same state if the event was relayed before. */
export function relay(state: WatchState, eventId: string): WatchState {
  if (state.relayed.includes(eventId)) return state;
  return { ...state, relayed: [...state.relayed, eventId].slice(-rememberEvents) };
}

/** The first workflows, other than the claimant, that hold a lease of this use. */
function leasedBy(state: WatchState, claimant: string, use: ClaimRequest['ends']): readonly string[] {
  return state.registrations
    .filter(
      ({ lease: held, workflowId }) => held !== null && workflowId !== claimant && (use === 'any' || held === use),
    )
    .map(({ workflowId }) => workflowId)
    .slice(0, namedAtMost);
}

function claimedByOthers({ claims }: WatchState, workflowId: string): readonly string[] {
  const others = claims.filter(({ claimant }) => claimant !== workflowId).map(({ claimant }) => claimant);
  return [...new Set(others)].slice(0, namedAtMost);
}

function hasRoomFor({ registrations }: WatchState, workflowId: string): boolean {
  return registrations.length < registrationsAtMost || registrations.some((known) => known.workflowId === workflowId);
}

function withRegistration(state: WatchState, registered: Registered): WatchState {
  const others = state.registrations.filter(({ workflowId }) => workflowId !== registered.workflowId);
  return { ...state, registrations: [...others, registered] };
}
