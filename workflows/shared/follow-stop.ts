/**
 * Follows the stop of a sandbox to its end, for stops, jobs, batches and cleanups. Events wake the wait, and reads end
 * it: an event contains no stop id, so a late event of an earlier stop cannot be distinguished (trap S6).
 */
import { type PreservedWork, preservedWorkOf } from '../../src/contract/workflow-safe/preserved-work.js';
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isOpenStop, isUsable } from '../../src/contract/workflow-safe/states.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { confirmMissing } from './confirm-missing.js';
import type { InboxMark } from './event-inbox.js';
import { observeFailingStop } from './metrics.js';
import { reads } from './reads.js';
import { type Caller, retryRefusals } from './retry-refusals.js';
import { isStoppedAgain, type ObservedStop, observedLastStop, observedStop } from './stop-outcome.js';
import { type UntilOptions, until } from './until.js';

/** A workflow that records the events of sandboxes and waits for them. */
type Waiter = Pick<UntilOptions<unknown>, 'inbox' | 'timing' | 'onWake'>;

interface Wait<T> extends Pick<UntilOptions<T>, 'read' | 'readFirst'> {
  /** Take the mark before the call that stops the sandbox. */
  readonly since: InboxMark;
  /** Default: `archived`. */
  readonly waitedFor?: string;
}

/** Waits until `read` returns a result. Each event that may mean the end of a stop wakes it, and so does a safety poll. */
export function untilStopped<T>(waiter: Waiter, sandboxId: string, wait: Wait<T>): Promise<T> {
  const { inbox, timing, onWake } = waiter;
  return until<T>(sandboxId, {
    ...{ inbox, timing, onWake, waitedFor: 'archived', ...wait },
    wakeOn: ['sandbox.archived', 'sandbox.ready', 'sandbox.error'],
  });
}

type WithSandbox<Kind extends ObservedStop['kind']> = Extract<ObservedStop, { kind: Kind }> & {
  readonly sandbox: SandboxView;
};

export type StopObservation =
  | Extract<ObservedStop, { kind: 'gone' | 'vanished' }>
  | WithSandbox<'pending'>
  /** `mayLag`: the sandbox may have been read as it was before a later stop. */
  | ((WithSandbox<'done'> | WithSandbox<'superseded'>) & { readonly mayLag: boolean });

/** How a stop has ended, or that the service no longer knows it: then request it again. */
export type StopEnd = Exclude<StopObservation, { kind: 'pending' }>;

interface Followed {
  readonly sandboxId: string;
  readonly stopId: string;
  /**
   * True if the end of a later stop counts, too, because somebody else may have resumed and stopped the sandbox.
   * Default: false.
   */
  readonly orLater?: boolean;
}

interface Follow extends Followed, Pick<Wait<unknown>, 'since' | 'readFirst'> {
  /** Called after each read that shows the stop in progress. If the service has replaced the stop, its id is new. */
  readonly onPending?: (seen: WithSandbox<'pending'>) => void;
}

/** Waits until the stop has ended. Safe to cancel and to repeat. */
export function followStop(follower: Caller & Waiter, { onPending, since, readFirst, ...followed }: Follow) {
  let { stopId } = followed;
  const read = async (): Promise<StopEnd | undefined> => {
    const seen = await observeStop(follower, { ...followed, stopId }, follower.timing);
    if (seen.kind !== 'pending') return seen;
    stopId = seen.stop.id;
    onPending?.(seen);
    return undefined;
  };
  return untilStopped<StopEnd>(follower, followed.sandboxId, { since, readFirst, read });
}

/**
 * @returns what the newest reads mean; an observation that may lag is returned only once it has lasted long enough to
 * be final
 */
export function observeStop(
  caller: Caller,
  followed: Followed,
  { readLagMs }: Pick<JobTiming, 'readLagMs'>,
): Promise<StopObservation> {
  const mayLag = (seen: StopObservation) => 'mayLag' in seen && seen.mayLag;
  return confirmMissing(readLagMs, () => observeOnce(caller, followed), mayLag);
}

/** The read of the sandbox contains its last stop, so one call is usually enough. */
async function observeOnce(caller: Caller, { sandboxId, stopId, orLater = false }: Followed): Promise<StopObservation> {
  const readSandbox = () => retryRefusals(caller, 'read', () => reads.getSandbox(sandboxId));
  const first = await readSandbox();
  if (first === null) return { kind: 'gone', mayLag: true };
  const isLast = first.stop?.id === stopId;
  const stop = isLast ? first.stop : await readStop(caller, sandboxId, stopId);
  // The stop may have ended after the first read of the sandbox.
  const sandbox = isLast || stop === null || isOpenStop(stop) ? first : await readSandbox();
  if (sandbox === null) return { kind: 'gone', mayLag: true };
  const own = observedStop(stop, sandbox);
  const seen = orLater && own.kind === 'superseded' ? observedLastStop(own.stop, sandbox) : own;
  switch (seen.kind) {
    case 'gone':
    case 'vanished':
      return seen;
    case 'pending':
      if (seen.stop.status === 'failing') observeFailingStop(seen.stop.requestedAt);
      return { ...seen, sandbox };
    case 'done':
    case 'superseded':
      return { ...seen, sandbox, mayLag: orLater && isUsable(sandbox.state) && seen.stop?.id !== sandbox.stop?.id };
  }
}

function readStop(caller: Caller, sandboxId: string, stopId: string): Promise<StopView | null> {
  return retryRefusals(caller, 'read', () => reads.getStop(sandboxId, stopId));
}

/**
 * How much of the work an ended stop preserved; null if the service does not say, or the sandbox was stopped again since.
 * @param requestedAt when the stop was requested. If it is null, the stop is read by its id, because the sandbox no
 * longer shows this time
 */
export async function readKept(
  caller: Caller,
  { sandbox, stop }: { readonly sandbox: SandboxView; readonly stop: StopView | null },
  requestedAt: string | null,
): Promise<PreservedWork | null> {
  if (stop === null) return preservedWorkOf(sandbox, { requestedAt: null });
  if (isStoppedAgain(sandbox, stop.id)) return null;
  const known = requestedAt ?? (await readStop(caller, sandbox.id, stop.id))?.requestedAt ?? null;
  return preservedWorkOf(sandbox, { requestedAt: known });
}
