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
  | { readonly kind: 'gone' | 'vanished'; readonly mayLag: boolean };

/**
 * @param stop read by its id; null if the service does not know it
 * @param sandbox null if the service does not find it; undefined if it was not read
 */
export function observedStop(stop: StopView | null, sandbox?: SandboxView | null): ObservedStop {
  if (stop?.status === 'superseded') return { kind: 'superseded', stop };
  if (stop?.status === 'completed') return { kind: 'done', stop };
  if (sandbox === null) return { kind: 'gone', mayLag: true };
  if (sandbox?.state === 'cancelled') return { kind: 'gone', mayLag: false };
  // If the sandbox is archived, a stop with an unknown status is done.
  if (sandbox?.state === 'archived' && !isOpenStop(stop)) return { kind: 'done', stop: stop ?? sandbox.stop };
  if (stop) return { kind: 'pending', stop };
  const last = sandbox?.stop;
  return last && isOpenStop(last) ? { kind: 'pending', stop: last } : { kind: 'vanished', mayLag: true };
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
