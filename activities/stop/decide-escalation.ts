/** Decides what became of a failing stop, given a fresh read of the sandbox. Pure. */
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { hasFailedAttempt, isOpenStop } from '../../src/contract/workflow-safe/states.js';

/**
 * - `failing`: an attempt has failed, and the stop has not ended.
 * - `pending`: no attempt has failed yet.
 * - `ended`: the sandbox is archived.
 * - `resumed`: the sandbox was resumed.
 * - `stopped_again`: the sandbox has another stop.
 * - `gone`: the sandbox never got a machine.
 */
export type FailingStopSeen = 'failing' | 'pending' | 'ended' | 'resumed' | 'stopped_again' | 'gone';

export function failingStopSeen({ state, stop }: Pick<SandboxView, 'state' | 'stop'>, stopId: string): FailingStopSeen {
  if (state === 'cancelled') return 'gone';
  if (stop?.id !== stopId) return 'stopped_again';
  if (hasFailedAttempt(stop)) return 'failing';
  if (isOpenStop(stop)) return 'pending';
  // A superseded stop never archived the sandbox.
  if (stop.status === 'superseded') return 'resumed';
  return state === 'archived' || state === 'archiving' ? 'ended' : 'resumed';
}
