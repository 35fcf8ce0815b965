/** Reads a sandbox and the stop that was asked for, until what they say goes together. */
import type { SandboxView, StopView } from '../../src/contract/sandbox-view.js';
import { isUsable } from '../../src/contract/states.js';
import type { JobState } from '../job/state.js';
import { readSandbox } from '../job/wait-until-usable.js';
import { confirmMissing } from '../shared/confirm-missing.js';
import { reads } from '../shared/proxies.js';
import { retryRefusals } from '../shared/retry-refusals.js';

export type StopObservation =
  /** `stop` is null of an archived sandbox that shows none. */
  | { readonly kind: 'completed' | 'superseded'; readonly stop: StopView | null; readonly sandbox: SandboxView }
  /** It goes on. A stop of another id has taken the place of one that nobody knows, or that was superseded. */
  | { readonly kind: 'open'; readonly stop: StopView }
  /** There is no sandbox, or no such stop of it, and that has lasted. */
  | { readonly kind: 'gone' | 'vanished' };

export async function observeStop(run: JobState, sandboxId: string, stopId: string): Promise<StopObservation> {
  let ifItLasts: StopObservation = { kind: 'gone' };
  const seen = await confirmMissing<StopObservation>(run.timing.readLagMs, async () => {
    const sandbox = await readSandbox(run, sandboxId);
    if (sandbox === null) {
      ifItLasts = { kind: 'gone' };
      return null;
    }
    if (sandbox.state === 'cancelled') return { kind: 'gone' };
    const last = sandbox.stop;
    const stop = last?.id === stopId ? last : await readStop(run, sandboxId, stopId);
    if (stop === null) {
      if (sandbox.state === 'archived') return { kind: 'completed', stop: last, sandbox };
      if (last && isOpen(last)) return { kind: 'open', stop: last };
      ifItLasts = { kind: 'vanished' };
      return null;
    }
    const kind = kindOf(stop, sandbox);
    if (kind === 'open') return { kind, stop };
    // It was taken back, and stopped again by others: then their stop is what the sandbox ends by.
    if (kind === 'superseded' && last && last.id !== stopId) {
      if (isOpen(last)) return { kind: 'open', stop: last };
      if (sandbox.state === 'archived') return { kind: 'completed', stop: last, sandbox };
    }
    const isOlder = isUsable(sandbox.state) && (last?.id ?? null) === run.stopRequest.asked?.previousStopId;
    if (!isOlder) return { kind, stop, sandbox };
    ifItLasts = { kind, stop, sandbox };
    return null;
  });
  return seen ?? ifItLasts;
}

/** An unknown status of an archived sandbox is as good as `completed`. */
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
