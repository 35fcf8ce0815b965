/** What to do about a stop, or a resume, of a sandbox that was just read. Pure. */
import type { Sandbox, StopOperation } from '../../src/contract/records.js';

/** What was there before the first byte of a request that may have been accepted. */
export interface BeforeRequest {
  /** The last stop of the sandbox; null where it was never stopped. */
  readonly previousStopId: string | null;
}

/**
 * - `ask`: nothing is under way, and what may have been sent was not accepted.
 * - `joined`: a stop is under way, and is what the call would return.
 * - `already_archived`: there is nothing to stop.
 * - `resumed_since`: a stop that is newer than our request has ended, and the sandbox is not archived: a person has
 *   resumed it, and is not to lose it again.
 * - `gone`: it never got a machine.
 */
export type StopDecision = 'ask' | 'joined' | 'already_archived' | 'resumed_since' | 'gone';

type Seen = Pick<Sandbox, 'state' | 'stop'>;

/** @param before null where nothing was sent that may have been accepted */
export function decideStop({ state, stop }: Seen, before: BeforeRequest | null): StopDecision {
  if (state === 'cancelled') return 'gone';
  if (isOpen(stop)) return 'joined';
  const isNew = before !== null && stop != null && stop.id !== before.previousStopId;
  if (state === 'archived') return isNew ? 'joined' : 'already_archived';
  if (!isNew) return 'ask';
  // The two fields of one answer can be of different moments while it is being archived.
  if (state === 'archiving') return stop.status === 'superseded' ? 'ask' : 'joined';
  return stop.status === 'superseded' || stop.status === 'completed' ? 'resumed_since' : 'joined';
}

/**
 * - `ask`: it is archived, and nobody has asked for another stop.
 * - `found`: it runs, or is on its way there, or is still being archived.
 * - `stopped_again`: it has a stop that the caller did not know, which a resume would undo.
 */
export type ResumeDecision = 'ask' | 'found' | 'stopped_again';

export function decideResume({ state, stop }: Seen, before: BeforeRequest): ResumeDecision {
  if (stop != null && stop.id !== before.previousStopId) return 'stopped_again';
  return state === 'archived' ? 'ask' : 'found';
}

function isOpen(stop: StopOperation | null | undefined): boolean {
  return stop?.status === 'pending' || stop?.status === 'failing';
}
