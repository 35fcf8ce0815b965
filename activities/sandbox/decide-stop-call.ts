/** Decides what a stop or a resume must do, given a fresh read of the sandbox. Pure. */
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isOpenStop } from '../../src/contract/workflow-safe/states.js';
import type { BeforeRequest } from '../retry/read-first.js';

/**
 * - `ask`: no stop is in progress, and no earlier request was accepted: send the request.
 * - `joined`: a stop is in progress; the call would return it.
 * - `already_archived`: there is nothing to stop.
 * - `resumed_since`: a stop that is newer than our request has ended, and the sandbox is not archived. A person has
 *   resumed it, so it must not be stopped again.
 * - `gone`: the sandbox never got a machine.
 */
export type StopDecision = 'ask' | 'joined' | 'already_archived' | 'resumed_since' | 'gone';

type Seen = Pick<Sandbox | SandboxView, 'state' | 'stop'>;

/** @param before null if no earlier request may have been accepted */
export function decideStop({ state, stop }: Seen, before: BeforeRequest | null): StopDecision {
  if (state === 'cancelled') return 'gone';
  // An open stop that was there before the request was ended by our own resume. The read is older than that.
  if (isOpenStop(stop)) return before !== null && stop?.id === before.previousStopId ? 'ask' : 'joined';
  const isNew = before !== null && stop != null && stop.id !== before.previousStopId;
  if (state === 'archived') return isNew ? 'joined' : 'already_archived';
  if (!isNew) return 'ask';
  // During archiving, `state` and `stop` in one answer may be of different times.
  if (state === 'archiving') return stop.status === 'superseded' ? 'ask' : 'joined';
  return stop.status === 'superseded' || stop.status === 'completed' ? 'resumed_since' : 'joined';
}

/**
 * - `ask`: the sandbox is archived, and nobody has requested another stop: send the request.
 * - `found`: it runs, is starting, or is still being archived.
 * - `stopped_again`: somebody has requested another stop, and a resume would undo it.
 */
export type ResumeDecision = 'ask' | 'found' | 'stopped_again';

export function decideResume({ state, stop }: Seen, before: BeforeRequest): ResumeDecision {
  if (stop != null && stop.id !== before.previousStopId) return 'stopped_again';
  return state === 'archived' ? 'ask' : 'found';
}
