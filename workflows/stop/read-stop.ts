/** Reads a sandbox and the requested stop until the two reads are consistent. */
import type { SandboxView, StopView } from '../../src/contract/sandbox-view.js';
import { isUsable } from '../../src/contract/states.js';
import type { JobState } from '../job/state.js';
import { readSandbox } from '../job/wait-until-usable.js';
import { confirmMissing } from '../shared/confirm-missing.js';
import { reads } from '../shared/proxies.js';
import { retryRefusals } from '../shared/retry-refusals.js';

export type StopObservation =
  /** `stop` is null if the archived sandbox shows none. */
  | { readonly kind: 'completed' | 'superseded'; readonly stop: StopView | null; readonly sandbox: SandboxView }
  /** Still in progress. A stop with another id has replaced one that is unknown or superseded. */
  | { readonly kind: 'open'; readonly stop: StopView }
  /** The sandbox, or this stop of it, has been missing for longer than a read may lag. */
  | { readonly kind: 'gone' | 'vanished' };

export async function observeStop(run: JobState, sandboxId: string, stopId: string): Promise<StopObservation> {
  let unconfirmed: StopObservation = { kind: 'gone' };
  const seen = await confirmMissing<StopObservation>(run.timing.readLagMs, async () => {
    const sandbox = await readSandbox(run, sandboxId);
    if (sandbox === null) {
      unconfirmed = { kind: 'gone' };
      return null;
    }
    if (sandbox.state === 'cancelled') return { kind: 'gone' };
    const last = sandbox.stop;
    const stop = last?.id === stopId ? last : await readStop(run, sandboxId, stopId);
    if (stop === null) {
      if (sandbox.state === 'archived') return { kind: 'completed', stop: last, sandbox };
      if (last && isOpen(last)) return { kind: 'open', stop: last };
      unconfirmed = { kind: 'vanished' };
      return null;
    }
    const kind = kindOf(stop, sandbox);
    if (kind === 'open') return { kind, stop };
    // The stop was superseded, and others stopped the sandbox again: their stop is the one that counts.
    if (kind === 'superseded' && last && last.id !== stopId) {
      if (isOpen(last)) return { kind: 'open', stop: last };
      if (sandbox.state === 'archived') return { kind: 'completed', stop: last, sandbox };
    }
    const isOlder = isUsable(sandbox.state) && (last?.id ?? null) === run.stopRequest.asked?.previousStopId;
    if (!isOlder) return { kind, stop, sandbox };
    unconfirmed = { kind, stop, sandbox };
    return null;
  });
  return seen ?? unconfirmed;
}

/** If the sandbox is archived, an unknown status counts as `completed`. */
function kindOf(stop: StopView, { state }: SandboxView): 'completed' | 'superseded' | 'open' {
  const { status } = stop;
  if (status === 'superseded' || status === 'completed') return status;
  return state === 'archived' && !isOpen(stop) ? 'completed' : 'open';
}

function isOpen({ status }: StopView): boolean {
  return status === 'pending' || status === 'failing';
}

export function readStop(run: JobState, sandboxId: string, stopId: string): Promise<StopView | null> {
  return retryRefusals(run, 'read', () => reads.getStop(sandboxId, stopId));
}
