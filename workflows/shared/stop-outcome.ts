/**
 * Interprets a read of a stop and of its sandbox, for callers that wait for that stop. Pure.
 *
 *     pending ─► done | superseded
 *        └─────► vanished (the service no longer knows the stop) | gone (there is no sandbox)
 */
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isOpenStop } from '../../src/contract/workflow-safe/states.js';

export type ObservedStop =
  /** The stop is in progress. If `stop` has another id, it replaces a stop that the service no longer knows. */
  | { readonly kind: 'pending'; readonly stop: StopView }
  /** `stop` is null if the archived sandbox shows none. */
  | { readonly kind: 'done'; readonly stop: StopView | null }
  /** Somebody resumed the sandbox before the stop was done. */
  | { readonly kind: 'superseded'; readonly stop: StopView }
  /** `mayLag`: this is final only if it lasts for longer than a read may lag behind a write. */
  | { readonly kind: 'gone'; readonly mayLag: boolean }
  | { readonly kind: 'vanished'; readonly mayLag: boolean };

/** @param stop null if the service does not know it */
export function observedStop(stop: StopView | null, sandbox: SandboxView): ObservedStop {
  if (sandbox.state === 'cancelled') return { kind: 'gone', mayLag: false };
  if (stop?.status === 'superseded') return { kind: 'superseded', stop };
  if (stop?.status === 'completed') return { kind: 'done', stop };
  // If the sandbox is archived, a stop with an unknown status is done.
  if (sandbox.state === 'archived' && !isOpenStop(stop)) return { kind: 'done', stop: stop ?? sandbox.stop };
  const last = sandbox.stop;
  // Between the two reads, somebody may have resumed the sandbox.
  if (stop) return isShownBy(sandbox, stop) ? { kind: 'pending', stop } : { kind: 'vanished', mayLag: true };
  return last && isOpenStop(last) ? { kind: 'pending', stop: last } : { kind: 'vanished', mayLag: true };
}

function isShownBy({ state, stop: last }: SandboxView, stop: StopView): boolean {
  return last?.id === stop.id || state === 'archiving' || state === 'archived';
}

/**
 * Interprets a superseded stop for callers that follow the last stop, because somebody may have stopped the sandbox
 * again.
 */
export function observedLastStop(superseded: StopView, { state, stop: last }: SandboxView): ObservedStop {
  if (last && last.id !== superseded.id) {
    if (isOpenStop(last)) return { kind: 'pending', stop: last };
    if (state === 'archived') return { kind: 'done', stop: last };
  }
  return { kind: 'superseded', stop: superseded };
}

/** True if the sandbox was stopped again since this stop. Its record then describes only the later stop. */
export function isStoppedAgain({ stop: last }: SandboxView, stopId: string): boolean {
  return last !== null && last.id !== stopId;
}
